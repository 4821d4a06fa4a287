/**
 * A server of revision 2026-07-28 on standard input and output, which asks a question before it books. Run as: node
 * modern-server.fixture.ts <journal>
 */
import { serveStdio } from '@modelcontextprotocol/server/stdio'
import { modernServer } from './modern-tools.fixture.ts'

const [journal = ''] = process.argv.slice(2)

serveStdio(() => modernServer(journal))
