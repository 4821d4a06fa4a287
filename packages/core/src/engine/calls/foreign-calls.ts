import type { AgentEvent, WaitRequest } from '@inspan/protocol'
import type { Decision, ToolCallRequest } from '@inspan/protocol/driver'
import type { ThreadLog } from '../log/thread-log.ts'
import type { TurnRecorder } from '../turns/turn-recorder.ts'

export interface ForeignCallsOptions {
  readonly log: ThreadLog
  readonly recorder: TurnRecorder
  readonly runId: string
  readonly turnId: string
  readonly hashOf: (call: ToolCallRequest) => string
}

/**
 * Records the calls that a foreign program may make. The program carries them out itself, so the permission is recorded
 * as the start of the call. After a crash such a call without a result is in doubt, under every hash that rules were
 * asked about.
 */
export class ForeignCalls {
  readonly #options: ForeignCallsOptions
  /** The hashes that rules were asked about, by call; the first is the call itself. */
  readonly #hashes = new Map<string, Set<string>>()
  /** How many further hashes of a call are on record. */
  readonly #recorded = new Map<string, number>()
  /** Calls that were allowed before the program announced them. */
  readonly #early = new Set<string>()
  /** Calls with an open approval, which decides. */
  readonly #asked = new Set<string>()

  constructor(options: ForeignCallsOptions) {
    this.#options = options
  }

  judged(call: ToolCallRequest, { policy }: Decision): void {
    const { toolCallId } = call
    this.#hashesOf(toolCallId).add(this.#options.hashOf(call))
    if (policy !== 'allow') return
    // Rules are asked about one call several times in a row: it is recorded once, with all its hashes.
    queueMicrotask(() => this.#begin(toolCallId))
  }

  /** Adds all hashes of the call to the wait: once it is approved, none of them is in doubt. */
  asked(wait: WaitRequest): WaitRequest {
    const { hash, toolCallId = wait.id } = wait.subject
    this.#asked.add(toolCallId)
    const judgedAs = [...this.#hashesOf(toolCallId)].filter((other) => other !== hash)
    return judgedAs.length === 0 ? wait : { ...wait, subject: { ...wait.subject, judgedAs } }
  }

  /** Called when the wait was approved. */
  approved({ subject }: WaitRequest): void {
    const { hash, toolCallId } = subject
    if (hash === undefined || toolCallId === undefined) return
    this.#hashes.set(toolCallId, new Set([hash, ...this.#hashesOf(toolCallId)]))
    this.#recorded.delete(toolCallId)
    this.#asked.delete(toolCallId)
    this.#begin(toolCallId)
  }

  /** Called after every event that was recorded. */
  seen(event: AgentEvent): void {
    if (event.type === 'tool-call' && this.#early.delete(event.toolCallId)) this.#begin(event.toolCallId)
  }

  #begin(toolCallId: string): void {
    const { log, recorder, runId, turnId } = this.#options
    if (this.#asked.has(toolCallId) || recorder.outcome !== undefined) return
    const [hash, ...judgedAs] = this.#hashesOf(toolCallId)
    const address = recorder.callAddress(toolCallId)
    if (address === undefined) this.#early.add(toolCallId)
    if (hash === undefined || address === undefined || this.#recorded.get(toolCallId) === judgedAs.length) return
    this.#recorded.set(toolCallId, judgedAs.length)
    const started = {
      type: 'call.started',
      messageId: address.messageId,
      partId: address.partId,
      toolCallId,
      attempt: 1,
      idempotencyKey: `${runId}:${toolCallId}`,
      hash,
      ...(judgedAs.length === 0 ? {} : { judgedAs }),
    } as const
    // Nobody awaits this: if it cannot be written, the log has failed, and the run ends with it.
    log.commit([started], { run: runId, turn: turnId }).catch(() => undefined)
  }

  #hashesOf(toolCallId: string): Set<string> {
    const known = this.#hashes.get(toolCallId) ?? new Set()
    this.#hashes.set(toolCallId, known)
    return known
  }
}
