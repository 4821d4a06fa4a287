/**
 * A server of the Model Context Protocol on standard input and output, which notes the calls it gets. Run as: node
 * mcp-server.fixture.ts <journal> <description> [kill]; with `kill` its host dies before it has an answer.
 */
import { appendFileSync } from 'node:fs'
import { createInterface } from 'node:readline'

const [journal = '', description = '', deed] = process.argv.slice(2)
const tool = (name: string, annotations: object): object => ({
  name,
  description,
  inputSchema: { type: 'object' },
  annotations,
})

function answerTo(method: string, params: { readonly name?: string; readonly protocolVersion?: string }): object {
  if (method === 'initialize') {
    const serverInfo = { name: 'notes', version: '1.0.0' }
    return { protocolVersion: params.protocolVersion, capabilities: { tools: {} }, serverInfo }
  }
  if (method === 'tools/list') {
    const harmless = { readOnlyHint: true, destructiveHint: false, idempotentHint: true }
    return { tools: [tool('read_file', harmless), tool('drop', { destructiveHint: true })] }
  }
  appendFileSync(journal, `${params.name}\n`)
  if (deed === 'kill') process.kill(process.ppid, 'SIGKILL')
  return { content: [{ type: 'text', text: `${params.name} is done` }] }
}

for await (const line of createInterface({ input: process.stdin })) {
  const { id, method, params } = JSON.parse(line) as { id?: number; method: string; params?: object }
  if (id === undefined) continue
  process.stdout.write(`${JSON.stringify({ jsonrpc: '2.0', id, result: answerTo(method, params ?? {}) })}\n`)
}
