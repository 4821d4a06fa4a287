import { claudeSessions } from './sessions.ts'
import type { AgentDriver, Capabilities } from '@inspan/protocol/driver'
import type { MappedEvent } from '../kit/activity.ts'
import { printDriver, type PrintOptions } from '../launch/print-driver.ts'
import { claudeLimits } from './limits.ts'
import { launchClaude, type ClaudeLaunchOptions } from './launch.ts'
import { claudeCodeDialect } from './mapper.ts'
import { claudeCodeProfile } from './profile.ts'

/** In print mode Claude Code runs its tools without asking; our deny rules are passed on as its own deny rules. */
const CAPABILITIES: Capabilities = {
  governs: 'none',
  continuity: 'native',
  steer: 'none',
  resume: 'anchor',
  fork: 'anchor',
  handover: 'text',
  hostTools: 'mcp',
  interrupt: 'clean',
  usage: 'turn',
  redaction: 'record',
  images: true,
  mcp: true,
  subagents: true,
  systemPrompt: 'append',
  models: null,
  effort: ['low', 'medium', 'high', 'xhigh', 'max'],
  output: true,
  limits: true,
  sessions: true,
}

export interface ClaudeCodeOptions extends PrintOptions, ClaudeLaunchOptions {
  /** `print` starts a process for every turn. */
  readonly transport?: 'print'
}

/** Makes an agent of Claude Code in print mode. */
export function claudeCode(options: ClaudeCodeOptions = {}): AgentDriver {
  const driver = printDriver(
    {
      profile: claudeCodeProfile,
      dialect: claudeCodeDialect,
      capabilities: CAPABILITIES,
      launch: (request) => launchClaude(request, options),
      anchorOf: claudeAnchor,
      limitsOf: claudeLimits,
      lostSession: /No (?:conversation|message) found with /,
    },
    options,
  )
  return { ...driver, sessions: claudeSessions({ ...process.env, ...options.env }) }
}

/** Returns the message to resume at. None of a subagent, and no reasoning: the CLI cannot resume after that alone. */
export function claudeAnchor(event: MappedEvent): string | undefined {
  if (event.parentToolCallId !== undefined) return undefined
  switch (event.type) {
    case 'text-delta':
    case 'tool-call':
    case 'tool-result':
      return event.native?.messageId
    default:
      return undefined
  }
}
