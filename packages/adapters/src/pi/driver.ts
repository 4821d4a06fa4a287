import { piSessions } from './sessions.ts'
import type { AgentDriver, Capabilities } from '@inspan/protocol/driver'
import type { MappedEvent } from '../kit/activity.ts'
import { placedDriver } from '../launch/placed-driver.ts'
import type { PrintOptions } from '../launch/print-driver.ts'
import { launchPi, type PiLaunchOptions } from './launch.ts'
import { piDialect } from './mapper.ts'
import { placePiSession } from './place-session.ts'
import { piProfile } from './profile.ts'

/** Pi has no permissions and no subagents. Denied tools are not offered to it. */
const CAPABILITIES: Capabilities = {
  governs: 'none',
  continuity: 'native',
  steer: 'none',
  resume: 'anchor',
  fork: 'anchor',
  handover: 'text',
  hostTools: 'none',
  interrupt: 'kill',
  usage: 'turn',
  redaction: 'record',
  images: true,
  mcp: true,
  subagents: false,
  systemPrompt: 'append',
  models: null,
  effort: ['none', 'minimal', 'low', 'medium', 'high', 'xhigh'],
  output: false,
  limits: false,
  sessions: true,
}

export interface PiOptions extends PrintOptions, PiLaunchOptions {
  /** `print` starts a process for every turn. */
  readonly transport?: 'print'
}

/** Makes an agent of Pi in print mode. Pi cannot be confined to its directory: if it may edit, it may edit any file. */
export function pi(options: PiOptions = {}): AgentDriver {
  const driver = placedDriver(
    {
      profile: piProfile,
      dialect: piDialect,
      capabilities: CAPABILITIES,
      launch: (request) => launchPi(request, options),
      anchorOf: piAnchor,
      place: placePiSession,
    },
    options,
  )
  return { ...driver, sessions: piSessions({ ...process.env, ...options.env }) }
}

/** Returns the message to resume at: one whose step and calls are over and did not fail. */
export function piAnchor(event: MappedEvent): string | undefined {
  if (event.type !== 'step-finish') return undefined
  const { finishReason, native } = event
  return finishReason === 'error' || finishReason === 'other' ? undefined : native?.messageId
}
