import type { AgentDriver, Capabilities } from '@evener/protocol'
import type { MappedEvent } from '../kit/activity.ts'
import { printDriver, type PrintOptions } from '../launch/print-driver.ts'
import { launchClaude, type ClaudeLaunchOptions } from './launch.ts'
import { claudeCodeDialect } from './mapper.ts'
import { claudeCodeProfile } from './profile.ts'

/** In print mode it runs its tools without asking anybody; our denies are its own denies. */
const CAPABILITIES: Capabilities = {
  governs: 'none',
  steer: 'none',
  resume: 'anchor',
  fork: 'anchor',
  handover: 'text',
  hostTools: 'none',
  interrupt: 'clean',
  usage: 'turn',
  redaction: 'record',
  images: true,
  mcp: true,
  subagents: true,
  systemPrompt: 'append',
  models: null,
}

export interface ClaudeCodeOptions extends PrintOptions, ClaudeLaunchOptions {
  /** `print`: a process for every turn. */
  readonly transport?: 'print'
}

/** Claude Code as an agent. */
export function claudeCode(options: ClaudeCodeOptions = {}): AgentDriver {
  return printDriver(
    {
      profile: claudeCodeProfile,
      dialect: claudeCodeDialect,
      capabilities: CAPABILITIES,
      launch: (request) => launchClaude(request, options),
      anchorOf: claudeAnchor,
      lostSession: /No (?:conversation|message) found with /,
    },
    options,
  )
}

/** Its own messages, not those of its subagents. Reasoning alone is no place to go on from. */
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
