import { piSessions } from './sessions.ts'
import type { AgentDriver, Capabilities } from '@inspan/protocol/driver'
import type { MappedEvent } from '../kit/activity.ts'
import { PRINT_CAPABILITIES, printDriver, type PrintOptions } from '../launch/print-driver.ts'
import { launchPi, type PiLaunchOptions } from './launch.ts'
import { piDialect } from './mapper.ts'
import { placePiSession } from './place-session.ts'
import { piProfile } from './profile.ts'

/** Pi has no permissions and no subagents. Denied tools are not offered to it. */
export const PI_CAPABILITIES: Capabilities = {
  ...PRINT_CAPABILITIES,
  resume: 'anchor',
  fork: 'anchor',
  usage: 'turn',
  images: true,
  mcp: true,
  systemPrompt: 'append',
  effort: ['none', 'minimal', 'low', 'medium', 'high', 'xhigh'],
  sessions: true,
}

export interface PiOptions extends PrintOptions, PiLaunchOptions {
  /** `print` starts a process for every turn. */
  readonly transport?: 'print'
}

/** Makes an agent of Pi in print mode. Pi cannot be confined to its directory: if it may edit, it may edit any file. */
export function pi(options: PiOptions = {}): AgentDriver {
  return printDriver(
    {
      profile: piProfile,
      dialect: piDialect,
      capabilities: PI_CAPABILITIES,
      sessionsOf: piSessions,
      launch: (request) => launchPi(request, options),
      anchorOf: piAnchor,
      place: placePiSession,
    },
    options,
  )
}

/** Returns the message to resume at: one whose step and calls are over and did not fail. */
export function piAnchor(event: MappedEvent): string | undefined {
  if (event.type !== 'step-finish') return undefined
  const { finishReason, native } = event
  return finishReason === 'error' || finishReason === 'other' ? undefined : native?.messageId
}
