import type { ActivityEvent, AgentEvent, Decision, ToolCallRequest } from '@evener/protocol'

type CallEvent = Extract<AgentEvent, { type: 'tool-call' }>
type ResultEvent = Extract<AgentEvent, { type: 'tool-result' }>
type OwnCall = Pick<ToolCallRequest, 'toolName' | 'args'>

/**
 * Watches what a foreign agent does, as it tells us. Its own tools run without us: one that ran although a rule denies it
 * is found here, afterwards. What may as well have been refused is none: the agent then did what it was told.
 */
export class SeenCalls {
  readonly #decide: (call: ToolCallRequest) => Decision
  readonly #denied = new Map<string, string>()

  constructor(decide: (call: ToolCallRequest) => Decision) {
    this.#decide = decide
  }

  /** What was broken, if the event shows it. */
  violation(event: AgentEvent): string | undefined {
    switch (event.type) {
      case 'tool-call': {
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

  /** A refusal comes back as an error, and without an exit code. */
  #resultDeny({ activity, isError, toolCallId }: ResultEvent): string | undefined {
    const done = (activity?.events ?? []).filter((event) => hasRun(event, isError === true))
    if (isError === true && done.length === 0) return undefined
    return this.#denied.get(toolCallId) ?? this.#denyOf(toolCallId, done)
  }

  /** By the name that the agent has for its tool. */
  #nativeDeny({ args, serverName, toolCallId, toolName }: CallEvent): string | undefined {
    const call = { toolCallId, toolName, args, ...(serverName === undefined ? {} : { serverName }) }
    const { policy, reason } = this.#decide(call)
    return policy === 'deny' ? reason : undefined
  }

  /** By the names that we have for what was done. */
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

/** By a rule about something else commands are denied for what they would do, from which a sandbox may keep them. */
function isAboutCommands({ about }: Decision): boolean {
  if (about === undefined) return true
  return 'tool' in about ? about.tool === 'execute_command' : about.category === 'execute'
}

function said({ toolName }: { readonly toolName: string }, denied: string | undefined): string | undefined {
  return denied === undefined ? undefined : `${toolName} has run although ${denied}`
}

function hasRun(event: ActivityEvent, isError: boolean): boolean {
  // Some programs say -1 of what they could not run.
  if (event.type === 'command' && (event.exitCode ?? -1) >= 0) return true
  return !isError && !('isSuccess' in event && !event.isSuccess)
}

/** The calls of our own tools that would do the same. */
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
