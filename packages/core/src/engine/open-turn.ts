import type { AgentSession, Part } from '@evener/protocol'
import type { ActiveTurn, OpenHandle, RuntimeAgent } from './active-run.ts'
import { pricesUntil, type PriceOf } from './priced-usage.ts'
import { NOTHING_SPENT, type RunSpending } from './run-spending.ts'
import type { ThreadHold } from './thread-hold.ts'
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

/** A turn whose start is on record and whose driver has not been asked for anything yet. */
export function openTurn(start: TurnStart, { log }: ThreadHold, priceOf: PriceOf | undefined): ActiveTurn {
  const { agent, handle, turnId, attempt, spent = NOTHING_SPENT } = start
  const { runId } = handle
  const abort = new AbortController()
  const setup = new TurnSetup({ agent, runId, turnId, state: () => log.state })
  const recorder = new TurnRecorder({
    log,
    runId,
    turnId,
    agentId: agent.driver.id,
    signal: abort.signal,
    usedBefore: attempt === undefined ? undefined : spent.turnUsage,
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
    openCalls: undefined,
    calls: undefined,
    spans: undefined,
    next: undefined,
    telling: Promise.resolve(),
    isDetached: false,
  }
}
