import { kiloCodeProfile } from '../../../src/kilo-code/profile.ts'
import type { RealFlavour } from '../opencode/opencode-cli.ts'
import { pathWithRipgrep } from '../ripgrep.ts'

/** Kilo Code, set up to contact nobody but the provider. */
export async function kiloCodeFlavour(agent: RealFlavour['agent']): Promise<RealFlavour> {
  return {
    profile: kiloCodeProfile,
    prefix: 'KILO',
    agent,
    path: await pathWithRipgrep(),
    env: {
      KILO_TELEMETRY_LEVEL: 'off',
      KILO_DISABLE_SESSION_INGEST: '1',
      KILO_DISABLE_CODEBASE_INDEXING: '1',
    },
  }
}
