import type { Part, PermissionRules } from '@inspan/protocol'
import type { AgentSession } from '@inspan/protocol/driver'
import type { RecordBody } from '@inspan/protocol/log'
import type { ActiveTurn, OpenHandle, RuntimeAgent } from './active-run.ts'
import { pricesUntil } from '../runs/priced-usage.ts'
import { NOTHING_SPENT, type RunSpending } from '../runs/run-spending.ts'
import type { ThreadHold } from '../threads/thread-hold.ts'
import type { Submission, ThreadRuntimeOptions } from '../thread-options.ts'
import { TurnRecorder } from './turn-recorder.ts'
import { TurnSetup } from './turn-setup.ts'

export interface TurnStart {
  readonly agent: RuntimeAgent
  readonly handle: OpenHandle
  readonly turnId: string
  readonly input: readonly Part[]
  readonly attempt?: number
  readonly spent?: RunSpending
}

interface NewRun {
  readonly runId: string
  readonly turnId: string
  readonly messageId: string
  readonly rules: PermissionRules
  /** The name of the door that starts it. */
  readonly door: string | undefined
}

/** Returns the records of a message that starts a run. */
export function runStart(
  { agentId, parts, requestContext, runId: given, turn }: Submission,
  { runId, turnId, messageId, rules, door }: NewRun,
): RecordBody[] {
  return [
    {
      type: 'run.started',
      ...(given === undefined ? {} : { named: true }),
      runId,
      agentId,
      ...(door === undefined ? {} : { door }),
      rules,
      ...(requestContext === undefined ? {} : { requestContext }),
      ...(turn === undefined ? {} : { turn }),
    },
    { type: 'message.added', messageId, role: 'user', parts },
    { type: 'turn.started', turnId, agentId },
  ]
}

/** The initial value of `delivery`: nothing was steered. */
export const NOTHING_TO_DELIVER: Promise<void> = Promise.resolve()

/** Returns the active turn for a start that is on record. Its driver has not been asked for anything yet. */
export function openTurn(
  start: TurnStart,
  { log }: ThreadHold,
  { newId, priceOf }: Pick<ThreadRuntimeOptions, 'newId' | 'priceOf'>,
): ActiveTurn {
  const { agent, handle, turnId, attempt, spent = NOTHING_SPENT } = start
  const { runId } = handle
  const abort = new AbortController()
  const setup = new TurnSetup({ agent, runId, turnId, state: () => log.state })
  const recorder = new TurnRecorder({
    log,
    ...(newId === undefined ? {} : { newId }),
    runId,
    turnId,
    agentId: agent.driver.id,
    signal: abort.signal,
    usedBefore: attempt === undefined ? undefined : spent.turnUsage,
    lastStep: spent.lastStep,
    priceOf: priceOf === undefined ? undefined : pricesUntil(abort.signal, priceOf),
    model: () => setup.defaults.model,
  })
  return {
    runId,
    turnId,
    handle,
    agent,
    attempt,
    spent,
    recorder,
    setup,
    abort,
    opened: Promise.withResolvers<AgentSession | undefined>(),
    driven: Promise.resolve(),
    capabilities: undefined,
    session: undefined,
    receipt: undefined,
    failure: undefined,
    openCalls: undefined,
    calls: undefined,
    hostTools: undefined,
    limit: undefined,
    budget: undefined,
    spans: undefined,
    next: undefined,
    delivery: NOTHING_TO_DELIVER,
    isDetached: false,
    isLeft: false,
    settles: [],
  }
}
