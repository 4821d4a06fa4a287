import type { Part, ThreadMessage, ToolCallPart, ToolResultPart } from '@inspan/protocol'
import type { ThreadView } from '@inspan/protocol/log'
import type { UiChunk } from './ui-chunk.ts'

/** What a client has been sent about a part. */
interface SentCall {
  chars: number
  stage: 'open' | 'input' | 'asked' | 'done'
}

/** Projects one run onto chunks of a UI message stream, by comparing what is with what was sent. */
export class UiProjection {
  readonly #runId: string
  readonly #thread: string
  readonly #sent = new Map<string, SentCall>()
  /** Where each call is shown, since its result is in another part. */
  readonly #calls = new Map<string, SentCall>()
  #step: string | undefined
  #hasBegun = false
  #isStarted = false

  constructor(thread: string, runId: string) {
    this.#thread = thread
    this.#runId = runId
  }

  /** Takes everything there is as sent: the client of a continued message has it already. */
  skip(view: ThreadView): void {
    for (const message of view.messages) this.#message(message, view)
    this.#isStarted = false
    this.#step = undefined
  }

  /** Returns what is new in these messages. */
  next(view: ThreadView, messageIds: Iterable<string>): UiChunk[] {
    if (view.head.run?.runId === this.#runId) this.#hasBegun = true
    const chunks: UiChunk[] = []
    for (const id of messageIds) {
      const message = view.messages.get(id)
      if (message !== undefined) chunks.push(...this.#message(message, view))
    }
    return chunks
  }

  /** Returns the last chunks when the run is over, or when nothing goes on before a person has answered. */
  end(view: ThreadView): UiChunk[] | undefined {
    const { lastRun, run } = view.head
    const closing: UiChunk[] = this.#step === undefined ? [] : [{ type: 'finish-step' }]
    if (run?.runId === this.#runId) {
      return this.#isWaiting(view) ? [...closing, { type: 'finish', finishReason: 'tool-calls' }] : undefined
    }
    if (!this.#hasBegun && lastRun?.runId !== this.#runId) return undefined
    // A later run has already ended: how this one ended is no longer in the head.
    if (lastRun?.runId !== this.#runId) return [...closing, { type: 'finish' }]
    if (lastRun.outcome === 'complete') return [...closing, { type: 'finish', finishReason: 'stop' }]
    if (lastRun.outcome === 'error') {
      const errorText = lastRun.error?.message ?? 'The run failed.'
      return [{ type: 'error', errorText }, ...closing, { type: 'finish', finishReason: 'error' }]
    }
    return [{ type: 'abort', reason: lastRun.error?.message ?? 'The run was cancelled.' }]
  }

  #isWaiting({ head }: ThreadView): boolean {
    if (head.waits.size === 0 || head.run === null || head.run.isStepOpen) return false
    const open = [...this.#calls].filter(([, sent]) => sent.stage !== 'done')
    const waiting = new Set([...head.waits].map(({ subject }) => subject.toolCallId))
    return open.every(([toolCallId]) => waiting.has(toolCallId))
  }

  #message(message: ThreadMessage, view: ThreadView): UiChunk[] {
    if (message.run !== this.#runId || message.role === 'user' || message.parentToolCallId !== undefined) return []
    this.#hasBegun = true
    const chunks: UiChunk[] = []
    if (!this.#isStarted) {
      this.#isStarted = true
      chunks.push({ type: 'start', messageId: this.#runId })
    }
    for (const part of message.parts) {
      const sent = this.#part(part, message.id, view)
      if (sent.length === 0) continue
      if (this.#step !== message.id && message.role === 'assistant' && part.type !== 'tool-result') {
        if (this.#step !== undefined) chunks.push({ type: 'finish-step' })
        chunks.push({ type: 'start-step' })
        this.#step = message.id
      }
      chunks.push(...sent)
    }
    return chunks
  }

  #part(part: Part, messageId: string, view: ThreadView): UiChunk[] {
    const id = `${messageId}:${part.id}`
    switch (part.type) {
      case 'text':
      case 'reasoning':
        return this.#text(id, part)
      case 'tool-call':
        return this.#call(id, part, view)
      case 'tool-result':
        return this.#result(part)
      case 'image':
      case 'file': {
        if (this.#sent.has(id) || part.state === 'open') return []
        this.#sent.set(id, { chars: 0, stage: 'done' })
        return [{ type: 'file', mediaType: part.mimeType, url: this.#address(part, messageId) }]
      }
      case 'signal':
        return []
    }
  }

  #text(id: string, part: Extract<Part, { type: 'text' | 'reasoning' }>): UiChunk[] {
    const kind = part.type
    const known = this.#sent.get(id)
    if (known?.stage === 'done' || (known === undefined && part.text === '')) return []
    const sent = known ?? { chars: 0, stage: 'open' }
    this.#sent.set(id, sent)
    const chunks: UiChunk[] = known === undefined ? [{ type: `${kind}-start`, id }] : []
    if (part.text.length > sent.chars) chunks.push({ type: `${kind}-delta`, id, delta: part.text.slice(sent.chars) })
    sent.chars = part.text.length
    if (part.state === 'open') return chunks
    sent.stage = 'done'
    return [...chunks, { type: `${kind}-end`, id }]
  }

  #call(id: string, { args, call, inputText, state, toolCallId, toolName }: ToolCallPart, view: ThreadView): UiChunk[] {
    const known = this.#sent.get(id)
    const sent = known ?? { chars: 0, stage: 'open' }
    this.#sent.set(id, sent)
    this.#calls.set(toolCallId, sent)
    const chunks: UiChunk[] = []
    if (known === undefined) chunks.push({ type: 'tool-input-start', toolCallId, toolName, dynamic: true })
    if (sent.stage === 'open' && inputText !== undefined && inputText.length > sent.chars) {
      chunks.push({ type: 'tool-input-delta', toolCallId, inputTextDelta: inputText.slice(sent.chars) })
      sent.chars = inputText.length
    }
    if (sent.stage === 'open' && inputText === undefined && state !== 'open') {
      sent.stage = 'input'
      chunks.push({ type: 'tool-input-available', toolCallId, toolName, input: args, dynamic: true })
    }
    const wait = call.waitId === undefined ? undefined : view.head.waits.get(call.waitId)
    if (sent.stage === 'input' && call.stage === 'waiting' && wait?.kind === 'approval') {
      sent.stage = 'asked'
      chunks.push({ type: 'tool-approval-request', approvalId: wait.id, toolCallId, reason: wait.description })
    }
    if (call.stage === 'ended' && call.outcome === 'denied' && sent.stage !== 'done') {
      sent.stage = 'done'
      chunks.push({ type: 'tool-output-denied', toolCallId })
    }
    return chunks
  }

  #result({ error, isError, output, result, resultRef, state, toolCallId }: ToolResultPart): UiChunk[] {
    const sent = this.#calls.get(toolCallId)
    if (state === 'open' || sent === undefined || sent.stage === 'done') return []
    sent.stage = 'done'
    const shown = result ?? resultRef?.preview ?? output ?? null
    if (isError !== true && state === undefined) {
      return [{ type: 'tool-output-available', toolCallId, output: shown, dynamic: true }]
    }
    const errorText = error?.message ?? (typeof shown === 'string' ? shown : JSON.stringify(shown))
    return [{ type: 'tool-output-error', toolCallId, errorText, dynamic: true }]
  }

  /** Large contents stay where they are: the client fetches them with its token. */
  #address({ data, mimeType, ref, url }: Extract<Part, { type: 'image' | 'file' }>, messageId: string): string {
    if (url !== undefined) return url
    if (ref === undefined) return `data:${mimeType};base64,${data}`
    const message = encodeURIComponent(messageId)
    return `/v1/threads/${encodeURIComponent(this.#thread)}/blobs/${ref.blob}?message=${message}`
  }
}
