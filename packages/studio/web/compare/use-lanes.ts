import { useEffect, useState } from 'react'
import { connect, type Client } from '@inspan/client'
import { laneReport, type LaneReport } from '@inspan/client/compare'
import type { KeptComparison, KeptLane } from './comparisons.ts'

export interface LiveLane {
  readonly lane: KeptLane
  /** Undefined until it is connected. */
  readonly client: Client | undefined
  readonly report: LaneReport | undefined
  readonly problem?: string
}

const READ_ONLY = 'This comparison is read-only.'
/** Reports are read for people; the lanes themselves follow every change. */
const EVERY_MS = 250

/**
 * Follows the threads of a comparison and gives the prompt to those that do not have it yet. Everything is decided from
 * the state of the threads, so it goes on after a reload.
 */
export function useLanes(comparison: KeptComparison): readonly LiveLane[] {
  // Whoever shows another comparison makes another component: the lanes of one never change.
  const [kept] = useState(comparison)
  const [lanes, setLanes] = useState<readonly LiveLane[]>(() =>
    comparison.lanes.map((lane) => ({ lane, client: undefined, report: undefined })),
  )
  useEffect(() => {
    const runner = new LaneRunner(kept, setLanes)
    return () => runner.close()
  }, [kept])
  return lanes
}

class LaneRunner {
  readonly #comparison: KeptComparison
  readonly #publish: (lanes: readonly LiveLane[]) => void
  readonly #clients = new Map<string, Client>()
  readonly #problems = new Map<string, string>()
  readonly #sent = new Set<string>()
  readonly #denied = new Set<string>()
  readonly #timer: ReturnType<typeof setInterval>
  #isChanged = true
  #isClosed = false

  constructor(comparison: KeptComparison, publish: (lanes: readonly LiveLane[]) => void) {
    this.#comparison = comparison
    this.#publish = publish
    this.#timer = setInterval(() => this.#show(), EVERY_MS)
    for (const lane of comparison.lanes) void this.#connect(lane)
  }

  close(): void {
    this.#isClosed = true
    clearInterval(this.#timer)
    for (const client of this.#clients.values()) void client.close()
  }

  async #connect({ thread }: KeptLane): Promise<void> {
    try {
      const client = await connect({ url: location.origin, thread, window: 200 })
      if (this.#isClosed) {
        await client.close()
        return
      }
      this.#clients.set(thread, client)
      client.subscribe(() => this.#advance())
    } catch (error) {
      this.#problems.set(thread, error instanceof Error ? error.message : String(error))
    }
    this.#advance()
  }

  #advance(): void {
    this.#isChanged = true
    const { how, lanes } = this.#comparison
    const isReadOnly = how === 'read-only'
    if (isReadOnly) for (const client of this.#clients.values()) this.#decline(client)
    const states = lanes.map(({ thread }) => this.#clients.get(thread)?.getState())
    for (const [index, lane] of lanes.entries()) {
      const state = states[index]
      if (state === undefined || this.#sent.has(lane.thread) || state.messages.length > 0) continue
      const isBusy = lanes.some(
        ({ thread }, other) =>
          states[other]?.head.run != null || (this.#sent.has(thread) && states[other]?.messages.length === 0),
      )
      if (isReadOnly && isBusy) return
      this.#start(lane)
      if (isReadOnly) return
    }
  }

  #start({ mode, model, thread }: KeptLane): void {
    const client = this.#clients.get(thread)
    if (client === undefined) return
    this.#sent.add(thread)
    const edits = this.#comparison.how === 'worktrees' ? ({ permissionMode: 'acceptEdits' } as const) : {}
    client.send({ type: 'configure', config: { mode, ...edits, ...(model === undefined ? {} : { model }) } })
    void client
      .send({ type: 'submit', prompt: this.#comparison.prompt })
      .receipt.then(({ message, reason, status }) => {
        if (status !== 'done') this.#problems.set(thread, message ?? reason ?? status)
        this.#advance()
      })
  }

  #decline(client: Client): void {
    for (const { toolCallId, waitId } of client.getState().pendingApprovals ?? []) {
      if (this.#denied.has(waitId)) continue
      this.#denied.add(waitId)
      client.send({ type: 'deny', toolCallId, reason: READ_ONLY })
    }
  }

  #show(): void {
    const isRunning = [...this.#clients.values()].some((client) => client.getState().head.run !== null)
    if (!this.#isChanged && !isRunning) return
    this.#isChanged = false
    this.#publish(
      this.#comparison.lanes.map((lane) => {
        const client = this.#clients.get(lane.thread)
        const problem = this.#problems.get(lane.thread)
        return {
          lane,
          client,
          report: client === undefined ? undefined : laneReport(lane.name, client.getState(), Date.now()),
          ...(problem === undefined ? {} : { problem }),
        }
      }),
    )
  }
}
