import {
  InspanError,
  type ErrorData,
  type JsonObject,
  type JsonValue,
  type Part,
  type ToolCallPart,
  type Wait,
} from '@inspan/protocol'
import type { AgentDriver, AgentLimit, AgentSession, Capabilities, TurnDefaults } from '@inspan/protocol/driver'
import { anObject, checkFields, unlessAborted, type FieldRule } from '@inspan/protocol/internal'
import {
  handOffId,
  type CancelReceipt,
  type QueueItem,
  type RecordBody,
  type RunOutcome,
  type ThreadState,
} from '@inspan/protocol/log'
import type { ForeignCalls } from '../calls/foreign-calls.ts'
import type { HostToolCalls } from '../calls/host-tool-calls.ts'
import type { EndTimeout } from './time-limits.ts'
import type { RunSpending } from '../runs/run-spending.ts'
import type { RunnableTool } from '../calls/runnable-tool.ts'
import type { TurnTrace } from '../telemetry/tracing.ts'
import type { TurnFiles } from './turn-files.ts'
import type { TurnBudget } from './turn-budget.ts'
import type { Settle } from '../commands/ledger.ts'
import type { TurnRecorder } from './turn-recorder.ts'
import type { TurnSetup } from './turn-setup.ts'

export const NOTHING_TO_CANCEL: CancelReceipt = { how: 'gone', calls: [], orphansKilled: 0, queued: [] }

/** An agent of the runtime: the driver that takes its turns, and the tools we carry out for it. */
export interface RuntimeAgent {
  readonly driver: AgentDriver
  /** The display name. Default: the id of its driver. */
  readonly name?: string
  /** A function is called at the start of a turn and before every step. So is `turn`. */
  readonly tools?:
    | readonly RunnableTool[]
    | ((context: TurnContext) => readonly RunnableTool[] | Promise<readonly RunnableTool[]>)
  readonly turn?: TurnDefaults | ((context: TurnContext) => TurnDefaults | Promise<TurnDefaults>)
}

export interface TurnContext {
  readonly state: ThreadState
  readonly runId: string
  readonly turnId: string
  readonly requestContext: JsonObject | undefined
}

const aDriver: FieldRule = { wanted: 'a driver, as `runtimeAgent(agent)` gives one', accepts: anObject.accepts }

/** The agents by id, or a function that finds one whenever it is needed. */
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
  throw new InspanError('not-found', `There is no agent "${agentId}".`, known)
}

export interface RunHandle {
  readonly runId: string
  /** Resolves with how the run ended. Stays pending while the run is parked, or if the runtime is closed first. */
  readonly done: Promise<RunOutcome>
}

export interface OpenHandle extends RunHandle {
  readonly settle: (outcome: RunOutcome) => void
}

/** The handles of open runs. A handle spans all turns of its run. */
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

/** The next turn of the same run. */
export interface NextTurn {
  readonly agentId: string
  readonly input: readonly Part[]
  /** Records to write when the turn starts. */
  readonly before: readonly RecordBody[]
  /** Steered messages, which are said after the input. */
  readonly steered?: readonly QueueItem[]
  /** A hand-off, which stays in the queue until the turn starts. */
  readonly isHandOff?: true
}

/** Returns who has the floor after the turn. */
export function nextOf({ next }: ActiveTurn, state: ThreadState): NextTurn | undefined {
  return next ?? handedOff(state)
}

/** Returns the hand-off of the open run that has not started yet. */
export function handedOff({ head }: ThreadState): NextTurn | undefined {
  const item = head.run === null ? undefined : head.queue.get(handOffId(head.run))
  if (item?.agentId === undefined) return undefined
  return { agentId: item.agentId, input: item.parts, before: [], isHandOff: true }
}

/** Written out, because users' programs may be compiled without `PromiseWithResolvers`. */
export interface SessionOpening {
  readonly promise: Promise<AgentSession | undefined>
  readonly resolve: (session: AgentSession | undefined) => void
  readonly reject: (error: unknown) => void
}

/** A turn that is going on in this process. */
export interface ActiveTurn {
  readonly runId: string
  readonly turnId: string
  readonly handle: OpenHandle
  readonly agent: RuntimeAgent
  /** Set when an earlier process began the turn: the number of this attempt at the run, which a crash raises. */
  readonly attempt: number | undefined
  /** What the run had spent before this turn was driven here. */
  readonly spent: RunSpending
  readonly recorder: TurnRecorder
  readonly setup: TurnSetup
  readonly abort: AbortController
  /** Resolves with the session, or `undefined` when there will be none. */
  readonly opened: SessionOpening
  /** Resolves when the driver is done with the turn. */
  driven: Promise<void>
  capabilities: Capabilities | undefined
  session: AgentSession | undefined
  receipt: CancelReceipt | undefined
  /** The usage limit that the agent has reported as reached, if it ends at a known time. */
  limit: AgentLimit | undefined
  /** The last error of the agent. */
  failure: ErrorData | undefined
  /** The calls that were open when the turn was cancelled. */
  openCalls: readonly string[] | undefined
  /** The calls that a foreign agent may make. */
  calls: ForeignCalls | undefined
  /** The calls of our tools that a foreign agent makes. */
  hostTools: HostToolCalls | undefined
  /** The budget check. Set while the turn is being driven. */
  budget: Pick<TurnBudget, 'check'> | undefined
  /** Set where changes of files are kept. */
  files?: TurnFiles
  /** Set when tracing is on. */
  spans: TurnTrace | undefined
  /** Who has the floor next, before that is recorded. */
  next: NextTurn | undefined
  /** Settles when everything steered so far was passed to the agent, one item after the other. */
  delivery: Promise<void>
  /** The driver's events are ignored: the turn was detached, or abandoned because its agent did not end in time. */
  isDetached: boolean
  /** The turn was detached: whoever detached it decides what becomes of its run. */
  isLeft: boolean
  /** Called for the commands that cancel the run, with the commit that ends it. */
  readonly settles: Settle[]
}

/** Whether the agent keeps a session of its own. Otherwise we carry out its tools, and it goes on from the log. */
export function isForeign(capabilities: Capabilities): boolean {
  return capabilities.continuity === 'native'
}

/** Returns the capabilities of the active agent; rejects on a cancel, which no silent agent may delay. */
export function capabilitiesUntilCancelled(active: ActiveTurn | undefined): Promise<Capabilities> | undefined {
  return active === undefined ? undefined : unlessAborted(active.abort.signal, active.agent.driver.describe())
}

/** Returns the ids of the calls without a result. */
export function openCalls({ messages }: ThreadState): string[] {
  return [...messages].flatMap(({ parts }) => parts.pick(openCall, OPEN_CALLS))
}

/** Whether any call has no result yet. Cached, because it is asked at every result once a hand-off is pending. */
export function hasOpenCalls({ messages }: ThreadState): boolean {
  for (const { parts } of messages) if (parts.pick(openCall, OPEN_CALLS).length > 0) return true
  return false
}

const OPEN_CALLS = new WeakMap<object, readonly string[]>()

function openCall(part: Part): string | undefined {
  return isOpenCall(part) ? part.toolCallId : undefined
}

/** Whether a part is a call without a result. A call whose input was cut off does not count: nobody carries it out. */
export function isOpenCall(part: Part | undefined): part is ToolCallPart {
  return part?.type === 'tool-call' && part.call.stage !== 'ended' && part.state !== 'interrupted'
}

/** Returns those of the calls open at a cancel that the cancel has closed: they got no result of their own. */
export function closedCalls({ messages }: ThreadState, open: readonly string[]): string[] {
  const closed = new Set([...messages].flatMap(({ parts }) => parts.pick(closedCall, CLOSED_CALLS)))
  return open.filter((toolCallId) => closed.has(toolCallId))
}

const CLOSED_CALLS = new WeakMap<object, readonly string[]>()

/** A call whose input is not complete does not count. */
function closedCall(part: Part): string | undefined {
  if (part.type !== 'tool-call' || part.state !== undefined) return undefined
  return part.call.stage !== 'ended' || part.call.outcome === 'aborted' ? part.toolCallId : undefined
}

/** Returns the open waits of a run. */
export function waitsOf({ head }: ThreadState, { runId }: { readonly runId: string }): Wait[] {
  return [...head.waits].filter((wait) => wait.run === runId)
}

/** Whether a parked run waits for nothing but subagents: it continues by itself, so it counts as at work. */
export function isWaitingForChildren(state: ThreadState): boolean {
  const { run } = state.head
  if (run?.status !== 'parked') return false
  const waits = waitsOf(state, run)
  return waits.length > 0 && waits.every(({ kind }) => kind === 'child')
}

/** Cancels the session of the turn. Resolves with its receipt, or `undefined` if it is late. */
export function receiptOf(active: ActiveTurn, patience: EndTimeout): Promise<CancelReceipt | undefined> {
  return patience.with(active.session === undefined ? undefined : cancelSession(active.session))
}

/** Async, so that a session that throws synchronously rejects. */
export async function cancelSession(session: AgentSession): Promise<CancelReceipt> {
  return session.cancel()
}

/** Completes the agent's receipt with the calls that were cut short and what is still queued. */
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
