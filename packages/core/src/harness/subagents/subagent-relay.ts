import type { ThreadMessage } from '@inspan/protocol'
import { toHarnessContent, type HarnessEvent } from '@inspan/protocol/harness'
import type { LogEntry } from '../../engine/index.ts'
import type { ChildNote } from './child-note.ts'

export interface RelayOptions {
  readonly toolCallId: string
  readonly agentType: string
  readonly emit: (event: HarnessEvent) => void
  readonly startedAt: number
  readonly now: () => number
}

/** Reports what a subagent does to the listeners of its parent. */
export class SubagentRelay {
  readonly #options: RelayOptions
  #isEnded = false
  /** The text of its newest message. */
  #text = ''

  constructor(options: RelayOptions) {
    this.#options = options
  }

  start({ background, forked, modelId, task }: ChildNote): void {
    const { agentType, emit, toolCallId } = this.#options
    const how = { ...(forked ? { forked } : {}), ...(background === true ? { background } : {}) }
    emit({ type: 'subagent_start', toolCallId, agentType, task, modelId, ...how })
  }

  /** Costs only what the entry brings. */
  entry(entry: LogEntry): void {
    if (this.#isEnded) return
    const { agentType, emit, toolCallId } = this.#options
    if (entry.kind === 'delta') {
      const { event } = entry
      if (event.type !== 'text-delta' || !isOwn(entry.state.messages.get(event.messageId))) return
      this.#text += event.text
      emit({ type: 'subagent_text_delta', toolCallId, agentType, textDelta: event.text })
      return
    }
    const { body } = entry.record
    if (body.type === 'message.started' && body.parentToolCallId === undefined) this.#text = ''
    if (body.type !== 'tool-call' && body.type !== 'tool-result') return
    const message = entry.state.messages.get(body.messageId)
    const part = message?.parts.at(Number(body.partId))
    if (!isOwn(message) || part === undefined) return
    if (part.type === 'tool-call' && body.meta?.interrupted !== true) {
      const { args: subToolArgs, toolName: subToolName } = part
      emit({ type: 'subagent_tool_start', toolCallId, agentType, subToolName, subToolArgs })
    }
    const content = part.type === 'tool-result' ? toHarnessContent(part) : undefined
    if (content?.type !== 'tool_result') return
    const { isError, name: subToolName, result: subToolResult } = content
    emit({ type: 'subagent_tool_end', toolCallId, agentType, subToolName, subToolResult, isError })
  }

  /** Only the first call counts: a subagent ends once. Without a result, its last words stand for it. */
  end(isError: boolean, result: string = this.#text): void {
    if (this.#isEnded) return
    this.#isEnded = true
    const { agentType, emit, now, startedAt, toolCallId } = this.#options
    const durationMs = Math.max(0, now() - startedAt)
    emit({ type: 'subagent_end', toolCallId, agentType, result, isError, durationMs })
  }
}

/** False for what the subagents of a foreign program say within its turn. */
function isOwn(message: ThreadMessage | undefined): boolean {
  return message !== undefined && message.parentToolCallId === undefined
}
