import { claudeCode, codex } from '@inspan/adapters'
import type { AgentDriver } from '@inspan/protocol/driver'

export type ProgramId = 'claude-code' | 'codex'

export interface ProgramSetup {
  readonly bin: string
  /** Holds the folders `home` and `temp`, so that nothing of the machine is read or written. */
  readonly root: string
  /** The address of the provider that answers by a script. */
  readonly providerUrl: string
  readonly cwd?: string
  readonly transport?: 'live' | 'print'
}

/** Returns a real program whose model is a script. */
export function programDriver(id: ProgramId, { bin, providerUrl, root, ...more }: ProgramSetup): AgentDriver {
  const env = { HOME: `${root}/home`, TMPDIR: `${root}/temp` }
  if (id === 'claude-code') {
    return claudeCode({
      bin,
      ...more,
      env: {
        ...env,
        ANTHROPIC_BASE_URL: providerUrl,
        ANTHROPIC_API_KEY: 'sk-ant-test',
        CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC: '1',
        CLAUDE_CODE_MAX_RETRIES: '1',
      },
    })
  }
  return codex({
    bin,
    ...more,
    model: 'gpt-5.5',
    config: {
      model_provider: 'scripted',
      'model_providers.scripted': {
        name: 'scripted',
        base_url: `${providerUrl}/v1`,
        env_key: 'CODEX_API_KEY',
        wire_api: 'responses',
        request_max_retries: 1,
        stream_max_retries: 1,
      },
    },
    env: { ...env, CODEX_HOME: undefined, CODEX_API_KEY: 'sk-test' },
  })
}
