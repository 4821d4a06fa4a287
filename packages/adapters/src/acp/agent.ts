import type { AgentDriver, Capabilities } from '@inspan/protocol/driver'
import type { Dialect } from '../kit/mapper.ts'
import type { CliOptions, CliSpec } from '../launch/cli-driver.ts'
import type { LaunchRequest } from '../launch/launch-plan.ts'
import { liveDriver, type LiveOptions } from '../live/live-driver.ts'
import type { LivePlan } from '../live/live-cli-spec.ts'
import { AcpPeer, type AcpPeerSetup } from './peer.ts'

/** Describes a program that speaks the Agent Client Protocol (ACP). */
export interface AcpAgent extends CliSpec, Omit<AcpPeerSetup, 'title'> {
  readonly dialect: Dialect
  readonly launch: (request: LaunchRequest) => LivePlan
}

/** The capabilities that follow from the protocol and hold for every ACP agent. */
export const ACP_CAPABILITIES: Omit<Capabilities, 'governs' | 'resume' | 'images' | 'usage'> = {
  continuity: 'native',
  // The protocol lets an agent wait for each answer before it asks the next question, and those we know do.
  asks: 'one-by-one',
  // The protocol does not define what a second prompt does while the first is being answered.
  steer: 'restart',
  fork: 'none',
  handover: 'text',
  hostTools: 'none',
  interrupt: 'clean',
  redaction: 'record',
  mcp: true,
  // The protocol does not report subagents.
  subagents: false,
  systemPrompt: 'none',
  models: null,
  maxSteps: false,
  effort: [],
  output: false,
  limits: false,
  sessions: false,
}

/** Makes a driver of a program that speaks ACP. */
export function acpDriver(agent: AcpAgent, options: LiveOptions & CliOptions): AgentDriver {
  const { profile, dialect, capabilities, sessionsOf, launch, ...setup } = agent
  return liveDriver(
    {
      profile,
      dialect,
      capabilities,
      ...(sessionsOf === undefined ? {} : { sessionsOf }),
      launch,
      anchorOf: () => undefined,
      placeOf: () => undefined,
      connect: (link) => new AcpPeer(link, { ...setup, title: profile.title }),
    },
    options,
  )
}
