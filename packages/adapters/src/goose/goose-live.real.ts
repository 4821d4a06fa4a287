import { join } from 'node:path'
import { testAcp, type AcpCli } from '../../test/acp/acp-scenarios.ts'
import { toyServer } from '../real/toy-server.ts'
import { gooseLive } from './live.ts'
import { gooseProfile } from './profile.ts'

const cli: AcpCli = {
  // The package has no program of this name.
  profile: { ...gooseProfile, command: 'goose-binary-linux-x64' },
  agent: ({ bin, place, provider, options }) =>
    gooseLive({
      bin,
      ...options,
      env: {
        HOME: place.home,
        TMPDIR: place.temp,
        GOOSE_PATH_ROOT: join(place.home, 'goose'),
        GOOSE_PROVIDER: 'openai',
        GOOSE_MODEL: 'model-1',
        OPENAI_API_KEY: 'sk-test',
        OPENAI_HOST: provider.url,
        OPENAI_BASE_PATH: 'v1/chat/completions',
        GOOSE_DISABLE_KEYRING: '1',
        GOOSE_TELEMETRY_OFF: '1',
      },
    }),
  scripts: {},
  options: { mcp: { mcp: toyServer } },
  command: (command) => ({ name: 'shell', input: { command } }),
  write: (path) => ({ name: 'write', input: { path, content: 'made\n' } }),
  mcp: { name: 'toy__echo', input: { text: 'hi' } },
  refusesTogether: false,
  forgetsStopped: true,
}

testAcp(cli)
