/**
 * Compares a call through our MCP client with one through the bare client of the SDK, on the same real server. Counts
 * the CPU time of this process: how soon the server gets the processor is not ours to answer for.
 */
import { Client } from '@modelcontextprotocol/client'
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio'
import type { ToolRunContext } from '@inspan/protocol/driver'
import { compare, report } from '@inspan/testing'
import { EVERYTHING, runContext } from './mcp-bench.fixture.ts'
import { McpServers } from './mcp-servers.ts'

/** Short rounds, so that some of them are undisturbed. */
const CALLS = 50
const ROUNDS = 250
if (EVERYTHING.type !== 'stdio') throw new TypeError('not a local server')
const { args = [], command } = EVERYTHING

const bare = new Client({ name: 'bench', version: '1' }, { versionNegotiation: { mode: 'auto' } })
await bare.connect(new StdioClientTransport({ command, args: [...args], stderr: 'ignore' }))
await bare.listTools()
const servers = new McpServers({ everything: EVERYTHING })
await servers.settled()
// As in a turn: all calls have the same signal, and each has a key of its own.
const context = runContext()
let contexts: ToolRunContext[] = []
try {
  report(
    await compare({
      name: 'MCP call, relative to the bare SDK client',
      limit: 1.2,
      clock: 'cpu',
      floor: async () => {
        for (let n = 0; n < CALLS; n++) await bare.callTool({ name: 'echo', arguments: { message: 'hello' } })
        return CALLS
      },
      ours: async () => {
        for (const each of contexts) await servers.call('everything_echo', { message: 'hello' }, each)
        return CALLS
      },
      prepare: async () => {
        contexts = Array.from({ length: CALLS }, (_, n) => ({ ...context, idempotencyKey: `r:${n}` }))
      },
      rounds: ROUNDS,
    }),
  )
} finally {
  await servers.close()
  await bare.close()
}
