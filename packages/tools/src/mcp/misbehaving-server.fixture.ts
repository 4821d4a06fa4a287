/**
 * An older server on standard input and output that does one thing wrong. Run as:
 * node misbehaving-server.fixture.ts <how> [<what its tool returns>]
 */
import { createInterface } from 'node:readline'

const [how = '', text = 'done'] = process.argv.slice(2)
const say = (message: object): void => void process.stdout.write(`${JSON.stringify({ jsonrpc: '2.0', ...message })}\n`)
const schema = { type: 'object' }
/** Nobody can wait until it is known whether a long text fits. */
const ENDLESS = { type: 'string', pattern: '^(\\w|a)+$' }
let generation = 0
let asked: unknown

if (how === 'talk') process.stdout.write('Server is starting …\n')
if (how === 'die') {
  process.stderr.write('at /home/somebody/server.js:1\nno license key found\n')
  process.exit(3)
}

function toolsOf(): object[] {
  const change = { name: 'change', inputSchema: schema, description: `Generation ${generation}.` }
  if (how === 'bad-list') return [{ name: 7 }]
  if (how === 'lie') {
    const outputSchema = { type: 'object', properties: { n: { type: 'number' } }, required: ['n'] }
    return [
      { name: 'number', inputSchema: schema, outputSchema },
      { name: 'broken', inputSchema: schema, outputSchema: { type: 'object', $ref: '#/nowhere' } },
      { name: 'endless', inputSchema: schema, outputSchema: { type: 'object', properties: { n: ENDLESS } } },
    ]
  }
  if (how.startsWith('tools-')) {
    return Array.from({ length: Number(how.slice(6)) }, (_, at) => ({ ...change, name: `change${at}` }))
  }
  return [change, change]
}

/** The answer that a caller asks for: so many blocks, each with a text so many times. */
function sized({ blocks = 1, text = '', times = 1 }: { blocks?: number; text?: string; times?: number }): object {
  return { content: Array.from({ length: blocks }, () => ({ type: 'text', text: text.repeat(times) })) }
}

function answerTo(method: string, params: { readonly protocolVersion?: string; readonly arguments?: object }): object {
  if (method === 'initialize') {
    const capabilities = { tools: { listChanged: true } }
    return { protocolVersion: params.protocolVersion, capabilities, serverInfo: { name: how, version: '1' } }
  }
  if (method === 'tools/list') return { tools: toolsOf() }
  if (how === 'change') {
    generation++
    say({ method: 'notifications/tools/list_changed' })
  }
  if (how === 'lie') return { content: [{ type: 'text', text: 'x' }], structuredContent: { n: `${'a'.repeat(50)}!` } }
  if (how === 'sized') return sized(params.arguments ?? {})
  if (how === 'huge') return { content: [{ type: 'text', text: 'x'.repeat(100 * 1024 * 1024) }] }
  return { content: [{ type: 'text', text }] }
}

for await (const line of createInterface({ input: process.stdin })) {
  const { id, method, params, result } = JSON.parse(line) as {
    id?: unknown
    method?: string
    params?: object
    result?: { action: string; content?: object }
  }
  if (method === undefined && asked !== undefined) {
    say({ id: asked, result: { content: [{ type: 'text', text: JSON.stringify(result) }] } })
    continue
  }
  if (id === undefined || method === undefined) continue
  if (how === 'hang') continue
  if (how === 'exit-on-probe' && method === 'server/discover') process.exit(1)
  if (method === 'server/discover') {
    say({ id, error: { code: -32601, message: 'Method not found' } })
    continue
  }
  if (method === 'tools/call' && how === 'crash') process.exit(1)
  if (method === 'tools/call' && how === 'hang-call') continue
  if (method === 'tools/call' && how === 'ask') {
    asked = id
    const requestedSchema = { type: 'object', properties: { name: { type: 'string' } } }
    say({ id: 'q1', method: 'elicitation/create', params: { message: 'Who are you?', requestedSchema } })
    if (text === 'impatient') say({ id, result: answerTo(method, params ?? {}) })
    continue
  }
  say({ id, result: answerTo(method, params ?? {}) })
}
