import { testAcp, type AcpCli } from '../../test/acp/acp-scenarios.ts'
import { opencodeCli } from '../real/opencode-cli.ts'
import { pathWithRipgrep } from '../real/ripgrep.ts'
import { kiloCodeLive } from './live.ts'
import { kiloCodeProfile } from './profile.ts'

const cli: AcpCli = {
  ...opencodeCli({
    profile: kiloCodeProfile,
    prefix: 'KILO',
    agent: kiloCodeLive,
    path: await pathWithRipgrep(),
    env: {
      KILO_TELEMETRY_LEVEL: 'off',
      KILO_DISABLE_SESSION_INGEST: '1',
      KILO_DISABLE_CODEBASE_INDEXING: '1',
    },
  }),
  command: (command) => ({ name: 'bash', input: { command, description: 'Runs it' } }),
  write: (file) => ({ name: 'write', input: { filePath: file, content: 'made\n' } }),
  mcp: { name: 'toy_echo', input: { text: 'hi' } },
  refusesTogether: true,
  forgetsStopped: false,
}

testAcp(cli)
