import type { ActivityEvent, AgentEvent, Decision, ToolCallRequest } from '@evener/protocol'

type CallEvent = Extract<AgentEvent, { type: 'tool-call' }>

/**
 * Watches what a foreign agent does, as it tells us. Its own tools run without us: one that ran although a rule denies it
 * is found here, afterwards.
 */
export class SeenCalls {
  readonly #decide: (call: ToolCallRequest) => Decision
  readonly #denied = new Map<string, string>()

  constructor(decide: (call: ToolCallRequest) => Decision) {
    this.#decide = decide
  }

  /** What was broken, if the event shows it. */
  violation(event: AgentEvent): string | undefined {
    if (event.type === 'tool-call') {
      const denied = this.#denyOf(event)
      if (denied !== undefined) this.#denied.set(event.toolCallId, denied)
      return undefined
    }
    if (event.type !== 'tool-result' && event.type !== 'tool-progress') return undefined
    const denied = this.#denied.get(event.toolCallId)
    if (denied === undefined) return undefined
    // A refusal comes back as an error; a result or output means that the tool has run.
    const hasRun = event.type === 'tool-result' ? event.isError !== true : (event.output ?? '') !== ''
    return hasRun ? `${event.toolName} has run although ${denied}` : undefined
  }

  #denyOf(event: CallEvent): string | undefined {
    return callsOf(event)
      .map((call) => this.#decide(call))
      .find(({ policy }) => policy === 'deny')?.reason
  }
}

/** The call as the agent names it, and as we name what it does. */
function callsOf(event: CallEvent): ToolCallRequest[] {
  const { args, serverName, toolCallId, toolName } = event
  const native = { toolCallId, toolName, args, ...(serverName === undefined ? {} : { serverName }) }
  const ours = (event.activity?.events ?? []).flatMap((activity) => canonical(activity))
  return [native, ...ours.map((call) => ({ toolCallId, ...call }))]
}

function canonical(activity: ActivityEvent): Pick<ToolCallRequest, 'toolName' | 'args'>[] {
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
