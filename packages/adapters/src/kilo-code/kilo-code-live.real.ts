import { testAcp, type AcpCli } from '../../test/acp/acp-scenarios.ts'
import { kiloCodeFlavour } from '../real/kilo-code-cli.ts'
import { opencodeCli } from '../real/opencode-cli.ts'
import { kiloCodeLive } from './live.ts'

const cli: AcpCli = {
  ...opencodeCli(await kiloCodeFlavour(kiloCodeLive)),
  command: (command) => ({ name: 'bash', input: { command, description: 'Runs it' } }),
  write: (file) => ({ name: 'write', input: { filePath: file, content: 'made\n' } }),
  mcp: { name: 'toy_echo', input: { text: 'hi' } },
  refusesTogether: true,
  forgetsStopped: false,
}

testAcp(cli)
