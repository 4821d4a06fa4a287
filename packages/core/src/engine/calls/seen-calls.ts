import type { ActivityEvent, AgentEvent } from '@inspan/protocol'
import { TOOL_SERVER_NAME, type Decision, type ToolCallRequest } from '@inspan/protocol/driver'

type CallEvent = Extract<AgentEvent, { type: 'tool-call' }>
type ResultEvent = Extract<AgentEvent, { type: 'tool-result' }>
type OwnCall = Pick<ToolCallRequest, 'toolName' | 'args'>

/**
 * Checks the reported calls of a foreign agent, which runs its tools without us: finds afterwards a call that ran
 * although a rule denies it. A call that may just as well have been refused is no violation: the agent then did as it
 * was told.
 */
export class SeenCalls {
  readonly #decide: (call: ToolCallRequest) => Decision
  readonly #denied = new Map<string, string>()

  constructor(decide: (call: ToolCallRequest) => Decision) {
    this.#decide = decide
  }

  /** Returns a description of the violation, if the event shows one. */
  violation(event: AgentEvent): string | undefined {
    switch (event.type) {
      case 'tool-call': {
        // Our own tools were judged when they were called.
        if (event.serverName === TOOL_SERVER_NAME) return undefined
        const denied = this.#nativeDeny(event) ?? this.#denyOf(event.toolCallId, event.activity?.events)
        if (denied !== undefined) this.#denied.set(event.toolCallId, denied)
        return undefined
      }
      case 'tool-progress':
        return (event.output ?? '') === '' ? undefined : said(event, this.#denied.get(event.toolCallId))
      case 'tool-result':
        return said(event, this.#resultDeny(event))
      default:
        return undefined
    }
  }

  /** Returns why the call is denied if the result shows that it ran. A refusal is an error without an exit code. */
  #resultDeny({ activity, isError, toolCallId }: ResultEvent): string | undefined {
    const done = (activity?.events ?? []).filter((event) => hasRun(event, isError === true))
    if (isError === true && done.length === 0) return undefined
    return this.#denied.get(toolCallId) ?? this.#denyOf(toolCallId, done)
  }

  /** Decides by the agent's own name of the tool. */
  #nativeDeny({ args, serverName, toolCallId, toolName }: CallEvent): string | undefined {
    const call = { toolCallId, toolName, args, ...(serverName === undefined ? {} : { serverName }) }
    const { policy, reason } = this.#decide(call)
    return policy === 'deny' ? reason : undefined
  }

  /** Decides by our names for what was done. */
  #denyOf(toolCallId: string, activity: readonly ActivityEvent[] = []): string | undefined {
    for (const event of activity) {
      const decisions = waysTo(event).map((call) => this.#decide({ toolCallId, ...call }))
      const [first] = decisions
      if (first === undefined || decisions.some(({ policy }) => policy !== 'deny')) continue
      if (event.type !== 'command' || isAboutCommands(first)) return first.reason
    }
    return undefined
  }
}

/** Whether a rule is about commands as such. Others deny a command for its effect, which a sandbox may prevent. */
function isAboutCommands({ about }: Decision): boolean {
  if (about === undefined) return true
  return 'tool' in about ? about.tool === 'execute_command' : about.category === 'execute'
}

function said({ toolName }: { readonly toolName: string }, denied: string | undefined): string | undefined {
  return denied === undefined ? undefined : `${toolName} has run although ${denied}`
}

function hasRun(event: ActivityEvent, isError: boolean): boolean {
  // Some programs report -1 for what they could not run.
  if (event.type === 'command' && (event.exitCode ?? -1) >= 0) return true
  return !isError && !('isSuccess' in event && !event.isSuccess)
}

/** Returns the calls of our own tools that would do the same. */
function waysTo(activity: ActivityEvent): readonly OwnCall[] {
  switch (activity.type) {
    case 'command':
      return [{ toolName: 'execute_command', args: { command: activity.command } }]
    case 'read':
      return [{ toolName: 'read_file', args: { path: activity.path } }]
    case 'write':
      return ['write_file', 'edit_file'].map((toolName) => ({ toolName, args: { path: activity.path } }))
    default:
      return []
  }
}
