import {
  anObject,
  checkFields,
  EvenerError,
  handOffId,
  unlessAborted,
  type AgentDriver,
  type AgentSession,
  type CancelReceipt,
  type Capabilities,
  type ErrorData,
  type FieldRule,
  type JsonObject,
  type JsonValue,
  type Part,
  type QueueItem,
  type RecordBody,
  type RunOutcome,
  type ThreadState,
  type ToolCallPart,
  type TurnDefaults,
  type Wait,
} from '@evener/protocol'
import type { ForeignCalls } from '../calls/foreign-calls.ts'
import type { Patience } from './patiently.ts'
import type { RunSpending } from '../runs/run-spending.ts'
import type { RunnableTool } from '../calls/runnable-tool.ts'
import type { TurnTrace } from '../telemetry/tracing.ts'
import type { TurnBudget } from './turn-budget.ts'
import type { TurnRecorder } from './turn-recorder.ts'
import type { TurnSetup } from './turn-setup.ts'

export const NOTHING_TO_CANCEL: CancelReceipt = { how: 'gone', calls: [], orphansKilled: 0, queued: [] }

/** An agent as the runtime knows it: what takes the turn, and the tools we carry out for it. */
export interface RuntimeAgent {
  readonly driver: AgentDriver
  /** What people call it. Default: the id of its driver. */
  readonly name?: string
  /** A function is asked at the start of a turn and before every step of it. So is `turn`. */
  readonly tools?: readonly RunnableTool[] | ((context: TurnContext) => MaybePromise<readonly RunnableTool[]>)
  readonly turn?: TurnDefaults | ((context: TurnContext) => MaybePromise<TurnDefaults>)
}

export interface TurnContext {
  readonly state: ThreadState
  readonly runId: string
  readonly turnId: string
  readonly requestContext: JsonObject | undefined
}

const aDriver: FieldRule = { wanted: 'a driver, as `runtimeAgent(agent)` gives one', accepts: anObject.accepts }

/** By id, or asked for whenever one is needed. */
export type RuntimeAgents =
  | { readonly [agentId: string]: RuntimeAgent }
  | ((agentId: string, state: ThreadState) => RuntimeAgent | undefined)

export function findAgent(agents: RuntimeAgents, agentId: string, state: ThreadState): RuntimeAgent | undefined {
  if (typeof agents === 'function') return agents(agentId, state)
  return Object.hasOwn(agents, agentId) ? agents[agentId] : undefined
}

export function knownAgent(agents: RuntimeAgents, agentId: string, state: ThreadState): RuntimeAgent {
  const agent = findAgent(agents, agentId, state)
  if (agent !== undefined) {
    checkFields(`agent "${agentId}"`, agent, { driver: aDriver }, ['driver'])
    return agent
  }
  const known = typeof agents === 'function' ? {} : { hint: `Known: ${Object.keys(agents).join(', ') || 'none'}.` }
  throw new EvenerError('not-found', `There is no agent "${agentId}".`, known)
}

type MaybePromise<T> = T | Promise<T>

export interface RunHandle {
  readonly runId: string
  /** How the run ended. Settles neither while it waits for an answer nor when the runtime is closed before. */
  readonly done: Promise<RunOutcome>
}

export interface OpenHandle extends RunHandle {
  readonly settle: (outcome: RunOutcome) => void
}

/** Who waits for a run, whichever of its turns it is in. */
export class RunHandles {
  readonly #open = new Map<string, OpenHandle>()

  of(runId: string): OpenHandle {
    const known = this.#open.get(runId)
    if (known !== undefined) return known
    const { promise: done, resolve: settle } = Promise.withResolvers<RunOutcome>()
    const handle = { runId, done, settle }
    this.#open.set(runId, handle)
    return handle
  }

  settle(runId: string, outcome: RunOutcome): void {
    this.#open.get(runId)?.settle(outcome)
    this.#open.delete(runId)
  }
}

/** Who has the floor next in the same run. */
export interface NextTurn {
  readonly agentId: string
  readonly input: readonly Part[]
  /** Written when the next turn starts. */
  readonly before: readonly RecordBody[]
  /** Said along with the input. */
  readonly steered?: readonly QueueItem[]
  /** It stands in the queue until then. */
  readonly isHandOff?: true
}

/** Who was given the floor of the open run and does not have it yet. */
export function handedOff({ head }: ThreadState): NextTurn | undefined {
  const id = handOffId(head.run)
  const item = id === undefined ? undefined : head.queue.get(id)
  if (item?.agentId === undefined) return undefined
  return { agentId: item.agentId, input: item.parts, before: [], isHandOff: true }
}

/** A turn that is going on in this process. */
export interface ActiveTurn {
  readonly runId: string
  readonly turnId: string
  readonly handle: OpenHandle
  readonly agent: RuntimeAgent
  /** Set when an earlier process began the turn: how often it was taken up. */
  readonly attempt: number | undefined
  /** By the run, before. */
  readonly spent: RunSpending
  readonly recorder: TurnRecorder
  readonly setup: TurnSetup
  readonly abort: AbortController
  /** Resolves with the session when there is one. */
  readonly opened: PromiseWithResolvers<AgentSession | undefined>
  /** Resolves when the driver has been left. */
  driven: Promise<void>
  capabilities: Capabilities | undefined
  session: AgentSession | undefined
  receipt: CancelReceipt | undefined
  /** What the agent said last had gone wrong. */
  failure: ErrorData | undefined
  /** The calls that were open when it was cancelled. */
  openCalls: readonly string[] | undefined
  /** Of a foreign agent: what it was told it may do. */
  calls: ForeignCalls | undefined
  /** Of what the run may use up. Set while the turn is being driven. */
  budget: Pick<TurnBudget, 'check'> | undefined
  /** Set when somebody traces. */
  spans: TurnTrace | undefined
  next: NextTurn | undefined
  /** What was steered and is being told to the agent, one after the other. */
  telling: Promise<void>
  /** The process lets go of the turn without ending it. */
  isDetached: boolean
  /** Not because its agent does not end: whoever lets go of it says what becomes of its run. */
  isLeft: boolean
}

/** We carry out its tools ourselves, and it goes on from the log. Others are programs of their own. */
export function isForeign(capabilities: Capabilities): boolean {
  return capabilities.hostTools !== 'inproc'
}

/** A program that does not even say what it can must not keep a cancelled run from ending. */
export function capabilitiesUntilCancelled(active: ActiveTurn | undefined): Promise<Capabilities> | undefined {
  return active === undefined ? undefined : unlessAborted(active.abort.signal, active.agent.driver.describe())
}

/** The calls that have no result yet. */
export function openCalls({ messages }: ThreadState): string[] {
  return [...messages].flatMap(({ parts }) => parts.pick(openCall, OPEN_CALLS))
}

/** Asked at every result of a step after which somebody else has the floor. */
export function hasOpenCalls({ messages }: ThreadState): boolean {
  for (const { parts } of messages) if (parts.pick(openCall, OPEN_CALLS).length > 0) return true
  return false
}

const OPEN_CALLS = new WeakMap<object, readonly string[]>()

function openCall(part: Part): string | undefined {
  return isOpenCall(part) ? part.toolCallId : undefined
}

/** An order whose input was cut off is none: nobody carries it out, and it has no result. */
export function isOpenCall(part: Part | undefined): part is ToolCallPart {
  return part?.type === 'tool-call' && part.call.stage !== 'ended' && part.state !== 'interrupted'
}

/** Of the calls that were open when their turn was cancelled, those that are closed for it: they got no result of their own. */
export function closedCalls({ messages }: ThreadState, open: readonly string[]): string[] {
  const closed = new Set([...messages].flatMap(({ parts }) => parts.pick(closedCall, CLOSED_CALLS)))
  return open.filter((toolCallId) => closed.has(toolCallId))
}

const CLOSED_CALLS = new WeakMap<object, readonly string[]>()

/** An order that is not whole is cut off, and is none. */
function closedCall(part: Part): string | undefined {
  if (part.type !== 'tool-call' || part.state !== undefined) return undefined
  return part.call.stage !== 'ended' || part.call.outcome === 'aborted' ? part.toolCallId : undefined
}

/** What a run has asked and nobody has answered. */
export function waitsOf({ head }: ThreadState, { runId }: { readonly runId: string }): Wait[] {
  return [...head.waits].filter((wait) => wait.run === runId)
}

/** How the agent took it to be stopped. */
export function receiptOf(active: ActiveTurn, patience: Patience): Promise<CancelReceipt | undefined> {
  return patience.with(active.session === undefined ? undefined : cancelSession(active.session))
}

/** One that throws at once fails like one that fails later. */
export async function cancelSession(session: AgentSession): Promise<CancelReceipt> {
  return session.cancel()
}

/** What the agent said of it, with what else was cut short and what is still queued. */
export function fullReceipt(
  { head }: ThreadState,
  given: CancelReceipt = NOTHING_TO_CANCEL,
  calls: readonly string[] = [],
): CancelReceipt {
  const queued = [...head.queue].filter(({ lane }) => lane !== 'hand-off').map(({ id }) => id)
  return { ...given, calls: [...new Set([...given.calls, ...calls])], queued }
}

export function cancelBodies(runId: string, receipt: CancelReceipt): RecordBody[] {
  return [
    { type: 'run.cancelled', runId, receipt },
    ...(receipt.queued.length === 0 ? [] : [{ type: 'queue.held', held: true } as const]),
  ]
}

export function runEnd(
  runId: string,
  outcome: RunOutcome,
  error: ErrorData | undefined,
  output: JsonValue | undefined,
): RecordBody {
  return {
    type: 'run.ended',
    runId,
    outcome,
    ...(error === undefined ? {} : { error }),
    ...(output === undefined ? {} : { output }),
  }
}
