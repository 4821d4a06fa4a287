import { codexSessions } from './sessions.ts'
import type { AgentDriver, Capabilities } from '@inspan/protocol/driver'
import { printDriver, type PrintOptions } from '../launch/print-driver.ts'
import { launchCodex, type CodexLaunchOptions } from './launch.ts'
import { codexDialect } from './mapper.ts'
import { ownProvider } from './own-provider.ts'
import { codexProfile } from './profile.ts'

/**
 * In print mode Codex runs its tools without asking, in a sandbox. It prints no turn ids, so a session can only be
 * resumed at its end.
 */
const CAPABILITIES: Capabilities = {
  governs: 'none',
  continuity: 'native',
  steer: 'none',
  resume: 'head',
  fork: 'none',
  handover: 'text',
  hostTools: 'mcp',
  interrupt: 'kill',
  usage: 'cumulative',
  redaction: 'record',
  images: true,
  mcp: true,
  subagents: true,
  systemPrompt: 'append',
  models: null,
  effort: ['minimal', 'low', 'medium', 'high', 'xhigh'],
  output: true,
  limits: false,
  sessions: true,
}

export interface CodexOptions extends PrintOptions, CodexLaunchOptions {
  /** `print` starts a process for every turn. */
  readonly transport?: 'print'
}

/** Makes an agent of Codex in print mode. */
export function codex(options: CodexOptions = {}): AgentDriver {
  const driver = printDriver(
    {
      profile: codexProfile,
      dialect: codexDialect,
      capabilities: CAPABILITIES,
      launch: (request) => launchCodex(request, options, ownProvider({ ...process.env, ...options.env })),
      lostSession: /no rollout found for /,
    },
    options,
  )
  return { ...driver, sessions: codexSessions({ ...process.env, ...options.env }) }
}
