import type { Capabilities } from '@evener/protocol'
import type { Dialect } from '../kit/mapper.ts'
import type { LaunchRequest } from '../launch/launch-plan.ts'
import type { CliProfile } from '../launch/profile.ts'
import type { SessionFacts } from '../live/followed-session.ts'
import type { LiveHarness, LivePlan } from '../live/live-harness.ts'
import { AcpPeer, type AcpPeerSetup } from './peer.ts'

/** What makes a program an agent of the Agent Client Protocol. */
export interface AcpAgent extends Omit<AcpPeerSetup, 'title'> {
  readonly profile: CliProfile
  readonly dialect: Dialect
  readonly capabilities: Capabilities
  readonly launch: (request: LaunchRequest) => LivePlan
}

/** What the protocol has for every agent: a session can be gone on with at its end, and a turn can be broken off. */
export const ACP_CAPABILITIES: Omit<Capabilities, 'governs' | 'resume' | 'images' | 'usage'> = {
  // How a second prompt is taken while the first is being answered is left open by the protocol.
  steer: 'restart',
  fork: 'none',
  handover: 'text',
  hostTools: 'none',
  interrupt: 'clean',
  redaction: 'record',
  mcp: true,
  // The protocol does not tell of any.
  subagents: false,
  systemPrompt: 'none',
  models: null,
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
