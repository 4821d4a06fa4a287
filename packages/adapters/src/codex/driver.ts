import { codexSessions } from './sessions.ts'
import type { AgentDriver, Capabilities } from '@inspan/protocol/driver'
import { PRINT_CAPABILITIES, printDriver, type PrintOptions } from '../launch/print-driver.ts'
import { launchCodex, type CodexLaunchOptions } from './launch.ts'
import { codexDialect } from './mapper.ts'
import { ownProvider } from './own-provider.ts'
import { codexProfile } from './profile.ts'

/**
 * In print mode Codex runs its tools without asking, in a sandbox. It prints no turn ids, so a session can only be
 * resumed at its end.
 */
export const CODEX_CAPABILITIES: Capabilities = {
  ...PRINT_CAPABILITIES,
  resume: 'head',
  hostTools: 'mcp',
  usage: 'cumulative',
  images: true,
  mcp: true,
  subagents: true,
  systemPrompt: 'append',
  effort: ['minimal', 'low', 'medium', 'high', 'xhigh'],
  output: true,
  sessions: true,
}

export interface CodexOptions extends PrintOptions, CodexLaunchOptions {
  /** `print` starts a process for every turn. */
  readonly transport?: 'print'
}

/** Makes an agent of Codex in print mode. */
export function codex(options: CodexOptions = {}): AgentDriver {
  return printDriver(
    {
      profile: codexProfile,
      dialect: codexDialect,
      capabilities: CODEX_CAPABILITIES,
      sessionsOf: codexSessions,
      launch: (request) => launchCodex(request, options, ownProvider({ ...process.env, ...options.env })),
      lostSession: /no rollout found for /,
    },
    options,
  )
}
