import { opencodeSessions } from './sessions.ts'
import type { AgentDriver, Capabilities } from '@inspan/protocol/driver'
import type { MappedEvent } from '../kit/activity.ts'
import { PRINT_CAPABILITIES, printDriver, type PrintOptions } from '../launch/print-driver.ts'
import type { Flavour } from './flavour.ts'
import { launchOpencode, type OpencodeLaunchOptions } from './launch.ts'
import { opencodeDialect } from './mapper.ts'
import { placeAtAnchor } from './native-fork.ts'
import { opencodeNativeTools } from './native-tools.ts'
import { opencodeProfile } from './profile.ts'

/** In print mode OpenCode runs its tools without asking; denied tools are not offered to its model. */
const CAPABILITIES: Capabilities = {
  ...PRINT_CAPABILITIES,
  resume: 'anchor',
  fork: 'anchor',
  usage: 'turn',
  images: true,
  mcp: true,
  subagents: true,
  systemPrompt: 'append',
  maxSteps: true,
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
  return printDriver(
    {
      profile,
      dialect,
      capabilities: CAPABILITIES,
      sessionsOf: (env, find) => opencodeSessions(flavour, env, find),
      launch: (request) => launchOpencode(request, flavour, options),
      anchorOf: opencodeAnchor,
      place: (request) => placeAtAnchor(request, flavour),
      lostSession: /Session not found/,
    },
    options,
  )
}

/** Returns the message to resume at. A message is one step with its calls, and is complete when the step finishes. */
export function opencodeAnchor(event: MappedEvent): string | undefined {
  return event.type === 'step-finish' ? event.native?.messageId : undefined
}
