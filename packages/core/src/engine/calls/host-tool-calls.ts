import { isDeepStrictEqual } from 'node:util'
import { TOOL_SERVER_NAME, type ToolCallRequest, type ToolOutcome } from '@inspan/protocol/driver'
import type { AgentEvent, JsonObject } from '@inspan/protocol'
import type { ServedCall } from '@inspan/tools'

/** How long the program has to announce a call that it makes. */
const ANNOUNCED_WITHIN_MS = 5_000

interface Announced {
  readonly toolCallId: string
  readonly toolName: string
  readonly args: JsonObject
}

export interface HostToolCallsOptions {
  readonly callTool: (call: ToolCallRequest) => Promise<ToolOutcome>
  readonly record: (event: AgentEvent) => Promise<void> | undefined
  readonly newId: () => string
}

/**
 * Calls of our tools by a foreign program. The program announces each call in its output and makes it over our server:
 * both are one call, which is recorded and asked about once.
 */
export class HostToolCalls {
  readonly #options: HostToolCallsOptions
  #open: Announced[] = []
  #next = Promise.withResolvers<void>()

  constructor(options: HostToolCallsOptions) {
    this.#options = options
  }

  /** Called after every event that was recorded. */
  seen(event: AgentEvent): void {
    if (event.type === 'tool-result')
      this.#open = this.#open.filter(({ toolCallId }) => toolCallId !== event.toolCallId)
    if (event.type !== 'tool-call') return
    const toolName = ownName(event)
    if (toolName === undefined) return
    this.#open.push({ toolCallId: event.toolCallId, toolName, args: event.args })
    this.#next.resolve()
    this.#next = Promise.withResolvers<void>()
  }

  async call(call: ServedCall): Promise<ToolOutcome> {
    const { callTool, newId, record } = this.#options
    const announced = await this.#announced(call)
    if (announced !== undefined) {
      return callTool({ toolCallId: announced.toolCallId, toolName: call.name, args: call.args })
    }
    // A program that does not show its calls: the record is ours alone.
    const own = { toolCallId: newId(), toolName: call.name, args: call.args }
    await record({ type: 'tool-call', ...own })
    const outcome = await callTool(own)
    const { isError, result } = outcome
    await record({
      type: 'tool-result',
      toolCallId: own.toolCallId,
      toolName: own.toolName,
      result,
      isError: isError === true,
    })
    return outcome
  }

  async #announced(call: ServedCall): Promise<Announced | undefined> {
    const late = Promise.withResolvers<'late'>()
    const timer = setTimeout(() => late.resolve('late'), ANNOUNCED_WITHIN_MS)
    try {
      for (;;) {
        const found = this.#take(call)
        if (found !== undefined) return found
        if ((await Promise.race([this.#next.promise, late.promise])) === 'late') return undefined
      }
    } finally {
      clearTimeout(timer)
    }
  }

  /** By the program's id, else by tool, arguments and order. */
  #take({ args, callId, name }: ServedCall): Announced | undefined {
    const found =
      this.#open.find(({ toolCallId }) => toolCallId === callId) ??
      (callId === undefined
        ? this.#open.find((each) => each.toolName === name && isDeepStrictEqual(each.args, args))
        : undefined)
    if (found !== undefined) this.#open = this.#open.filter((each) => each !== found)
    return found
  }
}

/** Returns our name of the tool, if the event is about one of ours. */
function ownName({ serverName, toolName }: Extract<AgentEvent, { type: 'tool-call' }>): string | undefined {
  const prefix = `mcp__${TOOL_SERVER_NAME}__`
  if (toolName.startsWith(prefix)) return toolName.slice(prefix.length)
  if (serverName !== TOOL_SERVER_NAME) return undefined
  return toolName.replace(new RegExp(`^${TOOL_SERVER_NAME}[./_]+`), '')
}
