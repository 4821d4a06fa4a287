import { piSessions } from './sessions.ts'
import type { NativeRef } from '@inspan/protocol'
import type { AgentDriver, Capabilities } from '@inspan/protocol/driver'
import type { Environment } from '../launch/find-cli.ts'
import { followedDriver } from '../live/followed-driver.ts'
import type { LiveOptions } from '../live/live-driver.ts'
import { piAnchor } from './driver.ts'
import type { PiLaunchOptions } from './launch.ts'
import { launchPiLive } from './live-launch.ts'
import { piDialect } from './mapper.ts'
import { piProfile } from './profile.ts'
import { PiPeer } from './rpc.ts'

/** Pi can be steered, but does not ask. Denied tools are not offered to it. */
const CAPABILITIES: Capabilities = {
  governs: 'none',
  continuity: 'native',
  steer: 'inject',
  resume: 'anchor',
  fork: 'anchor',
  handover: 'text',
  hostTools: 'none',
  interrupt: 'clean',
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

export interface PiLiveOptions extends LiveOptions, PiLaunchOptions {}

/** Makes an agent of Pi in live mode. */
export function piLive(options: PiLiveOptions = {}): AgentDriver {
  const env: Environment = { ...process.env, ...options.env }
  const driver = followedDriver(
    (facts) => ({
      profile: piProfile,
      dialect: piDialect,
      capabilities: CAPABILITIES,
      launch: (request) => launchPiLive(request, options),
      anchorOf: piAnchor,
      placeOf: ({ messageId }: NativeRef) => messageId,
      connect: (link) => new PiPeer(link, facts, { env, provider: options.provider }),
    }),
    options,
  )
  return { ...driver, sessions: piSessions(env) }
}
