import assert from 'node:assert/strict'
import { once } from 'node:events'
import { mkdtemp, readFile, rm } from 'node:fs/promises'
import { createServer } from 'node:net'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { suite, test } from 'node:test'
import { fileURLToPath } from 'node:url'
import { getRequestListener } from '@hono/node-server'
import { createMcpHandler, type McpHttpHandler, type McpServer } from '@modelcontextprotocol/server'
import { spawnRun } from '@inspan/shell/run'
import type { MCPServerConfig } from '@inspan/protocol/chat'
import { McpBench } from './mcp-bench.fixture.ts'
import { modernServer } from './modern-tools.fixture.ts'
import { answering, RemoteServer } from './remote-servers.fixture.ts'

const EVERYTHING = fileURLToPath(import.meta.resolve('@modelcontextprotocol/server-everything/dist/index.js'))

async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo
  server.close()
  await once(server, 'close')
  return port
}

/** Starts the server that has everything, over HTTP. */
async function everythingOver(transport: 'streamableHttp' | 'sse'): Promise<{ url: string } & AsyncDisposable> {
  const port = await freePort()
  const run = await spawnRun({
    command: process.execPath,
    args: [EVERYTHING, transport],
    env: { ...process.env, PORT: String(port) },
  })
  run.stdout.discard()
  for await (const line of run.stderr) if (line.text.includes(String(port))) break
  const url = `http://127.0.0.1:${port}/${transport === 'sse' ? 'sse' : 'mcp'}`
  return { url, [Symbol.asyncDispose]: async () => void (await run.kill({ graceMs: 0 })) }
}

const remote = (url: string, more: object = {}): MCPServerConfig => ({ type: 'remote', url, ...more })

suite('the server that has everything', () => {
  for (const transport of ['streamableHttp', 'sse'] as const) {
    test(`is used over ${transport}`, async () => {
      await using server = await everythingOver(transport)
      await using bench = await McpBench.ready({ every: remote(server.url) })
      assert.equal(bench.info('every')?.error, undefined)
      assert.deepEqual(await bench.call('every_echo', { message: 'Hi' }), { result: 'Echo: Hi' })
      const seen: string[] = []
      const input = { duration: 0.2, steps: 2 }
      await bench.call('every_trigger-long-running-operation', input, { progress: (words) => seen.push(words) })
      assert.equal(seen[0], '1/2\n')
    })
  }
})

type ModernRemote = RemoteServer & {
  readonly handler: McpHttpHandler
  /** What later requests find besides. */
  more: (made: McpServer) => void
}

suite('a remote server of revision 2026-07-28', () => {
  /** Keeps nothing between two requests: each gets a server of its own. */
  async function modernOver(journal: string): Promise<ModernRemote> {
    const make = (): McpServer => {
      const made = modernServer(journal)
      server.more(made)
      return made
    }
    const handler = createMcpHandler(make, { legacy: 'reject' })
    const listener = getRequestListener((request) => handler.fetch(request))
    const started = await RemoteServer.start((request, response) => void listener(request, response))
    const server: ModernRemote = Object.assign(started, { handler, more: () => undefined })
    return server
  }

  test('gets the answer to its question with the call that is repeated, over another connection', async (t) => {
    const folder = await mkdtemp(join(tmpdir(), 'inspan-mcp-remote-'))
    t.after(() => rm(folder, { recursive: true }))
    const journal = join(folder, 'journal')
    await using server = await modernOver(journal)
    let state: string | undefined
    {
      await using bench = await McpBench.ready({ m: remote(server.url) })
      assert.deepEqual([bench.info('m')?.status, bench.info('m')?.error], ['connected', undefined])
      const asked = await bench.call('m_book', { day: 'Monday' })
      assert.ok('suspend' in asked)
      const { description, resumable } = asked.suspend
      assert.deepEqual([description, resumable], ['m asks: For how many?', undefined])
      state = asked.suspend.state
    }
    await using later = await McpBench.ready({ m: remote(server.url) })
    const resume = { decision: 'answer', value: { guests: 3 } } as const
    const done = await later.call('m_book', { day: 'Monday' }, { resume, ...(state === undefined ? {} : { state }) })
    assert.deepEqual(done, { result: 'Monday: a table for 3' })
    assert.equal(await readFile(journal, 'utf8'), 'Monday null\nMonday "secret-state-of-Monday"\n')
    assert.ok(server.requests.every(({ headers }) => headers['mcp-session-id'] === undefined))
  })

  test('has its tools listed anew when it announces that they have changed', async () => {
    await using server = await modernOver('/dev/null')
    await using bench = await McpBench.ready({ m: remote(server.url) })
    const names = (): string[] => bench.info('m')?.tools.map(({ toolName }) => toolName) ?? []
    assert.deepEqual(names(), ['book', 'grow'])
    server.more = (made) =>
      void made.registerTool('grown', { description: 'Was added.' }, async () => ({ content: [] }))
    // Nobody knows when the client has begun to listen.
    while (!names().includes('grown')) {
      server.handler.notify.toolsChanged()
      await new Promise(setImmediate)
    }
    assert.deepEqual([names(), bench.info('m')?.status], [['book', 'grow', 'grown'], 'connected'])
    await server.handler.close()
  })
})

suite('a remote server', () => {
  test('gets the configured headers', async () => {
    await using server = await RemoteServer.start(answering)
    await using bench = await McpBench.ready({ a: remote(server.url, { headers: { authorization: 'Bearer abc' } }) })
    assert.deepEqual(await bench.call('a_look'), { result: 'Bearer abc' })
  })

  test('a remote server that redirects to another host is refused, and that host gets nothing', async () => {
    await using other = await RemoteServer.start(answering)
    await using server = await RemoteServer.start((_request, response) => {
      response.writeHead(307, { location: other.url.replace('127.0.0.1', 'localhost') }).end()
    })
    await using bench = await McpBench.ready({ a: remote(server.url, { headers: { authorization: 'Bearer abc' } }) })
    assert.equal(bench.info('a')?.status, 'error')
    assert.equal(other.requests.length, 0)
  })

  for (const [status, category, retriable] of [
    [401, 'http-401', true],
    [403, 'http-403', false],
    [404, 'http-4xx', false],
    [500, 'http-5xx', true],
  ] as const) {
    test(`a remote server that answers ${status} has the error ${category}`, async () => {
      await using server = await RemoteServer.start((_request, response) => void response.writeHead(status).end('no'))
      await using bench = await McpBench.ready({ a: remote(server.url) })
      assert.deepEqual(bench.info('a')?.errorDetail, { category, retriable })
    })
  }

  test('a remote server that answers 401 and later 200 recovers when it is reconnected', async () => {
    let isOpen = false
    await using server = await RemoteServer.start((request, response) => {
      if (isOpen) answering(request, response)
      else response.writeHead(401).end()
    })
    await using bench = await McpBench.ready({ a: remote(server.url) })
    assert.equal(bench.info('a')?.errorDetail?.category, 'http-401')
    isOpen = true
    await bench.servers.reconnect('a')
    assert.equal(bench.info('a')?.status, 'connected')
  })

  test('keeps its tools while it is reconnected, has none if that fails, and then is connecting again', async () => {
    let isOpen = true
    let look = (): void => undefined
    await using server = await RemoteServer.start((request, response) => {
      look()
      if (isOpen) answering(request, response)
      else response.writeHead(500).end()
    })
    await using bench = await McpBench.ready({ a: remote(server.url) })
    const seen: string[] = []
    // Also in the middle of an attempt.
    look = () => void seen.push(`${bench.info('a')?.status} ${bench.info('a')?.tools.length}`)
    bench.servers.watch(look)
    isOpen = false
    await bench.servers.reconnect('a')
    isOpen = true
    await bench.servers.reconnect('a')
    assert.deepEqual([...new Set(seen)], ['reconnecting 1', 'error 0', 'connecting 0', 'connected 1'])
  })

  test('a remote server that answers with an error of the protocol has its code', async () => {
    await using server = await RemoteServer.start((request, response) => {
      void text(request).then((body) => {
        const { id } = JSON.parse(body) as { id: number }
        const error = { code: -32055, message: 'Not today' }
        response.writeHead(200, { 'content-type': 'application/json' })
        return response.end(JSON.stringify({ jsonrpc: '2.0', id, error }))
      })
    })
    await using bench = await McpBench.ready({ a: remote(server.url) })
    const detail = { category: 'protocol-error', code: -32055, retriable: false }
    assert.deepEqual(bench.info('a')?.errorDetail, detail)
  })

  test('a remote server that is not there is a lost connection', async () => {
    await using bench = await McpBench.ready({ a: remote(`http://127.0.0.1:${await freePort()}/mcp`) })
    assert.deepEqual(bench.info('a')?.errorDetail, { category: 'transport-eof', retriable: true })
  })

  test('a remote server that sends 100 MB is cut off', async () => {
    await using server = await RemoteServer.start((_request, response) => {
      response.writeHead(200, { 'content-type': 'application/json' })
      const chunk = Buffer.alloc(1024 * 1024, 0x20)
      let left = 100
      const more = (): void => {
        while (left-- > 0) if (!response.write(chunk)) return void response.once('drain', more)
        response.end()
      }
      response.on('error', () => undefined)
      more()
    })
    await using bench = await McpBench.ready({ a: remote(server.url) })
    assert.equal(bench.info('a')?.status, 'error')
  })
})
