import type { ThreadMessage, ToolCallPart, ToolResultPart } from '@inspan/protocol'
import { toHarnessContent, type HarnessEvent } from '@inspan/protocol/harness'
import type { LogEntry } from '../../engine/index.ts'

type Start = Extract<HarnessEvent, { type: 'subagent_start' }>

export interface RelayOptions {
  readonly toolCallId: string
  readonly agentType: string
  readonly emit: (event: HarnessEvent) => void
  readonly startedAt: number
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

  start(how: Pick<Start, 'background' | 'forked' | 'modelId' | 'task'>): void {
    const { agentType, emit, toolCallId } = this.#options
    emit({ type: 'subagent_start', toolCallId, agentType, ...how })
  }

  /** Costs only what the entry brings. */
  entry(entry: LogEntry): void {
    if (this.#isEnded) return
    if (entry.kind === 'delta') {
      const { event } = entry
      if (event.type === 'text-delta' && isOwn(entry.state.messages.get(event.messageId))) this.said(event.text)
      return
    }
    const { body } = entry.record
    if (body.type === 'message.started' && body.parentToolCallId === undefined) this.spoke()
    if (body.type !== 'tool-call' && body.type !== 'tool-result') return
    const message = entry.state.messages.get(body.messageId)
    const part = message?.parts.at(Number(body.partId))
    if (!isOwn(message) || part === undefined) return
    if (part.type === 'tool-call' && body.meta?.interrupted !== true) this.called(part)
    if (part.type === 'tool-result') this.heard(part)
  }

  /** A new message begins. */
  spoke(): void {
    this.#text = ''
  }

  said(textDelta: string): void {
    const { agentType, emit, toolCallId } = this.#options
    this.#text += textDelta
    emit({ type: 'subagent_text_delta', toolCallId, agentType, textDelta })
  }

  called({ args: subToolArgs, toolName: subToolName }: ToolCallPart): void {
    const { agentType, emit, toolCallId } = this.#options
    emit({ type: 'subagent_tool_start', toolCallId, agentType, subToolName, subToolArgs })
  }

  heard(part: ToolResultPart): void {
    const { agentType, emit, toolCallId } = this.#options
    const { isError, result: subToolResult } = outcomeOf(part)
    emit({ type: 'subagent_tool_end', toolCallId, agentType, subToolName: part.toolName, subToolResult, isError })
  }

  /** Only the first call counts: a subagent ends once. Without a result, its last words stand for it. */
  end(isError: boolean, at: number, result: string = this.#text): void {
    if (this.#isEnded) return
    this.#isEnded = true
    const { agentType, emit, startedAt, toolCallId } = this.#options
    const durationMs = Math.max(0, at - startedAt)
    emit({ type: 'subagent_end', toolCallId, agentType, result, isError, durationMs })
  }
}

export function outcomeOf(part: ToolResultPart): { readonly result: unknown; readonly isError: boolean } {
  const content = toHarnessContent(part)
  return content?.type === 'tool_result' ? content : { result: null, isError: false }
}

/** False for what the subagents of a foreign program say within its turn. */
function isOwn(message: ThreadMessage | undefined): boolean {
  return message !== undefined && message.parentToolCallId === undefined
}
