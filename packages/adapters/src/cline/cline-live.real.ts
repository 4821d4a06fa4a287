import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { testAcp, type AcpCli } from '../../test/acp/acp-scenarios.ts'
import { toyServer } from '../real/toy-server.ts'
import { clineLive } from './live.ts'
import { clineProfile } from './profile.ts'

const PROVIDER = 'openai-compatible'

const cli: AcpCli = {
  profile: clineProfile,
  agent: ({ bin, place, provider, options }) => {
    const settings = {
      provider: PROVIDER,
      apiKey: 'sk-test',
      model: 'model-1',
      baseUrl: `${provider.url}/v1`,
    }
    const folder = join(place.home, '.cline/data/settings')
    mkdirSync(folder, { recursive: true })
    writeFileSync(
      join(folder, 'providers.json'),
      JSON.stringify({
        version: 1,
        lastUsedProvider: PROVIDER,
        modes: {},
        providers: {
          [PROVIDER]: { settings, updatedAt: '2026-01-01T00:00:00.000Z', tokenSource: 'manual' },
        },
      }),
    )
    return clineLive({
      bin,
      provider: PROVIDER,
      ...options,
      env: { HOME: place.home, TMPDIR: place.temp, CLINE_API_KEY: 'sk-test', DO_NOT_TRACK: '1' },
    })
  },
  scripts: {},
  options: { mcp: { mcp: toyServer } },
  command: (command) => ({ name: 'run_commands', input: { commands: [command] } }),
  write: (file) => ({
    name: 'apply_patch',
    input: { input: `*** Begin Patch\n*** Add File: ${file}\n+made\n*** End Patch` },
  }),
  mcp: { name: 'toy__echo', input: { text: 'hi' } },
  refusesTogether: false,
  forgetsStopped: false,
}

testAcp(cli)
