import { opencodeSessions } from './sessions.ts'
import { cliFinder } from '../launch/cli-finder.ts'
import type { AgentDriver, Capabilities } from '@inspan/protocol/driver'
import type { MappedEvent } from '../kit/activity.ts'
import { placedDriver } from '../launch/placed-driver.ts'
import type { PrintOptions } from '../launch/print-driver.ts'
import type { Flavour } from './flavour.ts'
import { launchOpencode, type OpencodeLaunchOptions } from './launch.ts'
import { opencodeDialect } from './mapper.ts'
import { placeAtAnchor } from './native-fork.ts'
import { opencodeNativeTools } from './native-tools.ts'
import { opencodeProfile } from './profile.ts'

/** In print mode OpenCode runs its tools without asking; denied tools are not offered to its model. */
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
  subagents: true,
  systemPrompt: 'append',
  models: null,
  effort: [],
  output: false,
  limits: false,
  sessions: true,
}

export const OPENCODE: Flavour = {
  profile: opencodeProfile,
  dialect: opencodeDialect,
  prefix: 'OPENCODE',
  serverUser: 'opencode',
  tools: opencodeNativeTools,
  env: {},
}

export interface OpencodeOptions extends PrintOptions, OpencodeLaunchOptions {
  /** `print` starts a process for every turn. */
  readonly transport?: 'print'
}

/** Makes an agent of OpenCode in print mode. */
export function opencode(options: OpencodeOptions = {}): AgentDriver {
  return opencodeDriver(OPENCODE, options)
}

/** Makes an agent of OpenCode or of a program built on it, in print mode. */
export function opencodeDriver(flavour: Flavour, options: OpencodeOptions): AgentDriver {
  const { profile, dialect } = flavour
  const env = { ...process.env, ...options.env }
  const driver = placedDriver(
    {
      profile,
      dialect,
      capabilities: CAPABILITIES,
      launch: (request) => launchOpencode(request, flavour, options),
      anchorOf: opencodeAnchor,
      place: (request) => placeAtAnchor(request, flavour),
      lostSession: /Session not found/,
    },
    options,
  )
  return { ...driver, sessions: opencodeSessions(flavour, env, cliFinder(profile, env, options.bin).find) }
}

/** Returns the message to resume at. A message is one step with its calls, and is complete when the step finishes. */
export function opencodeAnchor(event: MappedEvent): string | undefined {
  return event.type === 'step-finish' ? event.native?.messageId : undefined
}
