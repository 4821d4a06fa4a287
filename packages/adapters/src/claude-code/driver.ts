import { claudeSessions } from './sessions.ts'
import type { AgentDriver, Capabilities } from '@inspan/protocol/driver'
import type { MappedEvent } from '../kit/activity.ts'
import { PRINT_CAPABILITIES, printDriver, type PrintOptions } from '../launch/print-driver.ts'
import { claudeLimits } from './limits.ts'
import { launchClaude, type ClaudeLaunchOptions } from './launch.ts'
import { claudeCodeDialect } from './mapper.ts'
import { claudeCodeProfile } from './profile.ts'

/** In print mode Claude Code runs its tools without asking; our deny rules are passed on as its own deny rules. */
export const CLAUDE_CAPABILITIES: Capabilities = {
  ...PRINT_CAPABILITIES,
  resume: 'anchor',
  fork: 'anchor',
  hostTools: 'mcp',
  interrupt: 'clean',
  usage: 'turn',
  images: true,
  mcp: true,
  subagents: true,
  systemPrompt: 'append',
  maxSteps: true,
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
  return printDriver(
    {
      profile: claudeCodeProfile,
      dialect: claudeCodeDialect,
      capabilities: CLAUDE_CAPABILITIES,
      sessionsOf: claudeSessions,
      launch: (request) => launchClaude(request, options),
      anchorOf: claudeAnchor,
      limits: claudeLimits,
      lostSession: /No (?:conversation|message) found with /,
    },
    options,
  )
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
