import type { Capabilities } from '@inspan/protocol/driver'
import type { Dialect } from '../kit/mapper.ts'
import type { LaunchRequest } from '../launch/launch-plan.ts'
import type { CliProfile } from '../launch/profile.ts'
import type { SessionFacts } from '../live/followed-session.ts'
import type { LiveHarness, LivePlan } from '../live/live-harness.ts'
import { AcpPeer, type AcpPeerSetup } from './peer.ts'

/** Describes a program that speaks the Agent Client Protocol (ACP). */
export interface AcpAgent extends Omit<AcpPeerSetup, 'title'> {
  readonly profile: CliProfile
  readonly dialect: Dialect
  readonly capabilities: Capabilities
  readonly launch: (request: LaunchRequest) => LivePlan
}

/** The capabilities that follow from the protocol and hold for every ACP agent. */
export const ACP_CAPABILITIES: Omit<Capabilities, 'governs' | 'resume' | 'images' | 'usage'> = {
  continuity: 'native',
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
  effort: [],
  output: false,
  limits: false,
  sessions: false,
}

export function acpHarness(agent: AcpAgent, facts: SessionFacts): LiveHarness {
  const { profile, dialect, capabilities, launch, ...setup } = agent
  return {
    profile,
    dialect,
    capabilities,
    launch,
    anchorOf: () => undefined,
    placeOf: () => undefined,
    connect: (link) => new AcpPeer(link, { ...setup, title: profile.title }, facts),
  }
}
