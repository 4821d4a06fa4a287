import { piSessions } from './sessions.ts'
import type { NativeRef } from '@inspan/protocol'
import type { AgentDriver, Capabilities } from '@inspan/protocol/driver'
import type { Environment } from '../launch/find-cli.ts'
import { liveDriver, type LiveOptions } from '../live/live-driver.ts'
import { PI_CAPABILITIES, piAnchor } from './driver.ts'
import type { PiLaunchOptions } from './launch.ts'
import { launchPiLive } from './live-launch.ts'
import { piDialect } from './mapper.ts'
import { piProfile } from './profile.ts'
import { PiPeer } from './rpc.ts'

/** Pi can be steered, but does not ask. Denied tools are not offered to it. */
const CAPABILITIES: Capabilities = {
  ...PI_CAPABILITIES,
  steer: 'inject',
  interrupt: 'clean',
}

export interface PiLiveOptions extends LiveOptions, PiLaunchOptions {}

/** Makes an agent of Pi in live mode. */
export function piLive(options: PiLiveOptions = {}): AgentDriver {
  const env: Environment = { ...process.env, ...options.env }
  return liveDriver(
    {
      profile: piProfile,
      dialect: piDialect,
      capabilities: CAPABILITIES,
      sessionsOf: piSessions,
      launch: (request) => launchPiLive(request, options),
      anchorOf: piAnchor,
      placeOf: ({ messageId }: NativeRef) => messageId,
      connect: (link) => new PiPeer(link, { env, provider: options.provider }),
    },
    options,
  )
}
