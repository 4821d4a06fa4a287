import type { JsonObject, Part, ThreadMessage, ToolCallPart, ToolResultPart } from '@inspan/protocol'
import type { HarnessEvent } from '@inspan/protocol/harness'
import type { ThreadState } from '@inspan/protocol/log'
import { outcomeOf, SubagentRelay } from '../subagents/subagent-relay.ts'

/**
 * Reports the subagents that a foreign program runs within its own turn. Their messages carry the id of the call that
 * started them; listeners get the same events as for any other subagent.
 */
export class InlineSubagents {
  readonly #emit: (event: HarnessEvent) => void
  readonly #running = new Map<string, SubagentRelay>()

  constructor(emit: (event: HarnessEvent) => void) {
    this.#emit = emit
  }

  /** Returns the subagent of a call. It is reported with its first message: only then is it known that there is one. */
  of(toolCallId: string, state: ThreadState, startedAt: number = Date.now()): SubagentRelay {
    const known = this.#running.get(toolCallId)
    if (known !== undefined) return known
    const call = findCall(state, toolCallId)
    const args = call?.args ?? {}
    const agentType = textIn(args, 'subagent_type', 'agent', 'name') ?? call?.toolName ?? 'subagent'
    const task = textIn(args, 'prompt', 'task', 'message', 'instructions', 'description') ?? ''
    const relay = new SubagentRelay({ toolCallId, agentType, emit: this.#emit, startedAt })
    this.#running.set(toolCallId, relay)
    relay.start({ task, modelId: textIn(args, 'model') ?? '' })
    return relay
  }

  /** Ends the subagent whose call got its result. Results of other calls are ignored. */
  ended(part: ToolResultPart, at: number): void {
    const { isError, result } = outcomeOf(part)
    const text = typeof result === 'string' ? result : JSON.stringify(result ?? '')
    this.#running.get(part.toolCallId)?.end(isError, at, text)
    this.#running.delete(part.toolCallId)
  }

  /** Ends all subagents, since the run is over. One that worked in the background has no result but its last words. */
  endAll(isError: boolean, at: number): void {
    for (const relay of this.#running.values()) relay.end(isError, at)
    this.#running.clear()
  }
}

function findCall({ messages }: ThreadState, toolCallId: string): ToolCallPart | undefined {
  const isCall = (part: Part): part is ToolCallPart => part.type === 'tool-call' && part.toolCallId === toolCallId
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
