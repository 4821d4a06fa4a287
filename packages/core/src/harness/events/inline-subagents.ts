import type { JsonObject, Part, ThreadMessage } from '@inspan/protocol'
import { toHarnessContent, type HarnessEvent } from '@inspan/protocol/harness'
import type { ThreadState } from '@inspan/protocol/log'

type Call = Extract<Part, { type: 'tool-call' }>
type Result = Extract<Part, { type: 'tool-result' }>

interface Running {
  readonly agentType: string
  readonly startedAt: number
  /** The text of its newest message. */
  text: string
}

/**
 * Reports the subagents that a foreign program runs within its own turn. Their messages carry the id of the call that
 * started them; listeners get the same events as for any other subagent.
 */
export class InlineSubagents {
  readonly #emit: (event: HarnessEvent) => void
  readonly #running = new Map<string, Running>()

  constructor(emit: (event: HarnessEvent) => void) {
    this.#emit = emit
  }

  /** A subagent is reported with its first message: only then is it known that the call started one. */
  spoke(toolCallId: string, state: ThreadState, at: number): void {
    this.#of(toolCallId, state, at).text = ''
  }

  said(toolCallId: string, textDelta: string, state: ThreadState): void {
    const running = this.#of(toolCallId, state)
    running.text += textDelta
    this.#emit({ type: 'subagent_text_delta', toolCallId, agentType: running.agentType, textDelta })
  }

  called(toolCallId: string, { args, toolName }: Call, state: ThreadState): void {
    const { agentType } = this.#of(toolCallId, state)
    this.#emit({ type: 'subagent_tool_start', toolCallId, agentType, subToolName: toolName, subToolArgs: args })
  }

  heard(toolCallId: string, part: Result, state: ThreadState): void {
    const { agentType } = this.#of(toolCallId, state)
    const { isError, result } = outcomeOf(part)
    const { toolName: subToolName } = part
    this.#emit({ type: 'subagent_tool_end', toolCallId, agentType, subToolName, subToolResult: result, isError })
  }

  /** Ends the subagent whose call got its result. Results of other calls are ignored. */
  ended(part: Result, at: number): void {
    const { isError, result } = outcomeOf(part)
    this.#end(part.toolCallId, typeof result === 'string' ? result : JSON.stringify(result ?? ''), isError, at)
  }

  /** Ends all subagents, since the run is over. One that worked in the background has no result but its last words. */
  endAll(isError: boolean, at: number): void {
    for (const [toolCallId, { text }] of this.#running) this.#end(toolCallId, text, isError, at)
  }

  #end(toolCallId: string, result: string, isError: boolean, at: number): void {
    const running = this.#running.get(toolCallId)
    if (running === undefined) return
    this.#running.delete(toolCallId)
    const durationMs = Math.max(0, at - running.startedAt)
    this.#emit({ type: 'subagent_end', toolCallId, agentType: running.agentType, result, isError, durationMs })
  }

  #of(toolCallId: string, state: ThreadState, at: number = Date.now()): Running {
    const known = this.#running.get(toolCallId)
    if (known !== undefined) return known
    const call = findCall(state, toolCallId)
    const args = call?.args ?? {}
    const agentType = textIn(args, 'subagent_type', 'agent', 'name') ?? call?.toolName ?? 'subagent'
    const task = textIn(args, 'prompt', 'task', 'message', 'instructions', 'description') ?? ''
    const running = { agentType, startedAt: at, text: '' }
    this.#running.set(toolCallId, running)
    this.#emit({ type: 'subagent_start', toolCallId, agentType, task, modelId: textIn(args, 'model') ?? '' })
    return running
  }
}

function outcomeOf(part: Result): { readonly result: unknown; readonly isError: boolean } {
  const content = toHarnessContent(part)
  return content?.type === 'tool_result' ? content : { result: null, isError: false }
}

function findCall({ messages }: ThreadState, toolCallId: string): Call | undefined {
  const isCall = (part: Part): part is Call => part.type === 'tool-call' && part.toolCallId === toolCallId
  const holds = ({ parts }: ThreadMessage): boolean => parts.findLastIndex(isCall) >= 0
  const message = messages.at(messages.findLastIndex(holds))
  return message?.parts.toArray().find(isCall)
}

/** Returns the first of these arguments that is a text; programs name them differently. */
function textIn(args: JsonObject, ...names: readonly string[]): string | undefined {
  for (const name of names) {
    const value = args[name]
    if (typeof value === 'string' && value !== '') return value
  }
  return undefined
}
