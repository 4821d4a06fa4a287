import type { Client } from '../client.ts'
import { laneReport, type LaneReport } from './lane-report.ts'

export interface LaneOptions {
  readonly name: string
  readonly prompt: string
  /** One of the server's modes. Default: the thread's own. */
  readonly mode?: string
  readonly model?: string
  /** Declines everything that would need an approval. The agent gets this reason. */
  readonly declineWith?: string
  readonly signal?: AbortSignal
  /** Ends the run when it has cost this much. */
  readonly maxCostUsd?: number
  /** Called after every change, with the report so far. */
  readonly onReport?: (report: LaneReport) => void
}

/** Gives a prompt to the thread of a client and resolves when the run is over. Other runs of the thread are not awaited. */
export async function runLane(client: Client, options: LaneOptions): Promise<LaneReport> {
  const { declineWith, maxCostUsd = Infinity, mode, model, name, onReport, prompt, signal } = options
  const settings = { ...(mode === undefined ? {} : { mode }), ...(model === undefined ? {} : { model }) }
  if (Object.keys(settings).length > 0) await client.send({ type: 'configure', config: settings }).receipt
  const before = client.getState().head.lastRun?.runId
  const ended = Promise.withResolvers<void>()
  const answered = new Set<string>()
  let isCancelled = false
  const cancel = (): void => {
    if (isCancelled) return
    isCancelled = true
    client.send({ type: 'cancel' })
  }
  const look = (): void => {
    const state = client.getState()
    const { head, pendingApprovals = [] } = state
    onReport?.(laneReport(name, state, Date.now()))
    if (declineWith !== undefined) {
      for (const { toolCallId, waitId } of pendingApprovals) {
        if (answered.has(waitId)) continue
        answered.add(waitId)
        client.send({ type: 'deny', toolCallId, reason: declineWith })
      }
    }
    if (head.run !== null && head.usage.own.costUsd + head.usage.subagents.costUsd > maxCostUsd) cancel()
    if (head.run === null && head.lastRun !== null && head.lastRun.runId !== before) ended.resolve()
  }
  const unsubscribe = client.subscribe(look)
  signal?.addEventListener('abort', cancel)
  try {
    const { message, reason, status } = await client.send({ type: 'submit', prompt }).receipt
    if (status !== 'done') {
      return {
        ...laneReport(name, client.getState(), Date.now()),
        status: 'error',
        error: message ?? reason ?? status,
      }
    }
    if (signal?.aborted === true) cancel()
    look()
    await ended.promise
    return laneReport(name, client.getState(), Date.now())
  } finally {
    unsubscribe()
    signal?.removeEventListener('abort', cancel)
  }
}
