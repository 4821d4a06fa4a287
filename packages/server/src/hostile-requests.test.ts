/** Requests made to break the server: whatever is wrong with one, it is refused, and the server does not fail. */
import assert from 'node:assert/strict'
import { connect } from 'node:net'
import { mkdtemp, rm, symlink, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, it } from 'node:test'
import { schemas } from '@inspan/protocol/schema'
import { COMMAND_TYPES } from '@inspan/protocol/wire'
import { bearer, JSON_TYPE, raw } from './raw-request.fixture.ts'
import { ServerBench } from './server.fixture.ts'
import { WireClient } from './wire-client.fixture.ts'

const SEGMENTS = [
  '%E0%A4%A',
  '%00',
  '..%2f..%2fetc%2fpasswd',
  '__proto__',
  'constructor',
  'x'.repeat(3000),
  '%F0%9F%92%A9',
  "'--",
]

const VALUES: readonly unknown[] = [
  { toString: 1 },
  null,
  0,
  -1,
  1e308,
  '',
  '__proto__',
  'x'.repeat(5000),
  '\ud800',
  '\0',
  true,
  [],
  [[]],
  [null],
  {},
  JSON.parse('{"then":1,"toJSON":1,"constructor":{"prototype":1},"__proto__":{"x":1}}'),
]

interface Described {
  readonly method: string
  readonly path: string
  readonly query: readonly string[]
  readonly fields: readonly string[]
}

async function routesOf(bench: ServerBench): Promise<readonly Described[]> {
  interface Operation {
    readonly parameters: readonly { readonly in: string; readonly name: string }[]
    readonly requestBody?: { content: { 'application/json': { schema: { properties: Record<string, unknown> } } } }
  }
  const { paths } = (await (await bench.fetch('/v1/openapi.json')).json()) as {
    paths: Record<string, Record<string, Operation>>
  }
  return Object.entries(paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, { parameters, requestBody }]) => ({
      method: method.toUpperCase(),
      path,
      query: parameters.filter((each) => each.in === 'query').map(({ name }) => name),
      fields: Object.keys(requestBody?.content['application/json'].schema.properties ?? {}),
    })),
  )
}

/** Answers that say that the server refuses, or that it does not do such things. */
function isAnswered(status: number): boolean {
  return status < 500 || status === 501
}

describe('a request that is made to break the server', () => {
  it('in its path or query is refused', async () => {
    await using bench = await ServerBench.start([])
    const headers = { ...bearer(bench.token), ...JSON_TYPE }
    for (const { method, path, query } of await routesOf(bench)) {
      const body = method === 'GET' ? '' : '{}'
      for (const segment of path.includes('{') ? SEGMENTS : []) {
        const place = path.replaceAll(/\{\w+\}/g, segment)
        const { status } = await raw(bench.url, place, headers, method, body)
        assert.ok(isAnswered(status), `${method} ${place} is answered with ${status}`)
      }
      for (const name of query) {
        for (const value of [...SEGMENTS, '', '-1', '1e400', 'NaN', '0x10', '%5Bobject%20Object%5D']) {
          // A stream that is opened after all has no end.
          if (path === '/v1/events' && name !== 'thread') continue
          const place = `${path.replaceAll(/\{\w+\}/g, 'x')}?${name}=${value}&${name}=again`
          const { status } = await raw(bench.url, place, headers, method, body)
          assert.ok(isAnswered(status), `${method} ${place.slice(0, 80)} is answered with ${status}`)
        }
      }
    }
  })

  it('in its body is refused', async () => {
    await using bench = await ServerBench.start([])
    const headers = { ...bearer(bench.token), ...JSON_TYPE }
    const routes = await routesOf(bench)
    // Last: wrong codes are counted, and lock their sender out.
    const isPairing = ({ path }: Described): boolean => path === '/v1/pair'
    const ordered = [...routes.filter((route) => !isPairing(route)), ...routes.filter(isPairing)]
    for (const { fields, method, path } of ordered) {
      const place = path.replaceAll(/\{\w+\}/g, 'x')
      const bodies = ['', 'null', '7', '[]', '"x"', '{', '{"__proto__":{"x":1}}', '\ufeff{}']
      for (const field of fields) bodies.push(...VALUES.map((value) => JSON.stringify({ [field]: value })))
      for (const body of method === 'GET' ? [] : bodies) {
        const { status } = await raw(bench.url, place, headers, method, body)
        assert.ok(
          isAnswered(status) && (status !== 429 || path === '/v1/pair'),
          `${method} ${place} with ${body.slice(0, 80)} is answered with ${status}`,
        )
      }
    }
  })

  it('in the fields of a command is refused with the id of the command', async () => {
    await using bench = await ServerBench.start([])
    const client = await new WireClient(bench.url, bench.token).opened()
    client.send({ type: 'hello', protocol: 1, clientId: 'hostile' })
    const { thread } = await client.next('snapshot')
    const fields = [
      'prompt',
      'message',
      'toolCallId',
      'sessionId',
      'config',
      'messageId',
      'title',
      'itemId',
      'expect',
      'attachments',
      'thread',
      'mode',
      'model',
    ]
    let count = 0
    for (const type of COMMAND_TYPES) {
      if (type === 'delete') continue
      for (const field of fields) {
        for (const value of VALUES) {
          const command: Readonly<Record<string, unknown>> = { type, thread, id: `h${count++}`, [field]: value }
          client.send({ type: 'commands', commands: [command] })
          const { id, status } = await client.next('receipt')
          assert.equal(id, command['id'])
          if (schemas.Command.safeParse(command).success) continue
          assert.equal(status, 'rejected', JSON.stringify(command).slice(0, 200))
        }
      }
    }
    assert.equal(Object.hasOwn(Object.prototype, 'x'), false)
    await client.close()
  })
})

describe('a request that a stream or a socket would not fit', () => {
  it('for the head of a stream gets the head, and nothing stays open', { timeout: 60_000 }, async () => {
    await using bench = await ServerBench.start([{ text: 'Once', hang: true }])
    const body = JSON.stringify({ commands: [{ type: 'submit', prompt: 'Tell' }] })
    await bench.fetch('/v1/commands', { method: 'POST', body })
    const { threads } = (await (await bench.fetch('/v1/threads')).json()) as { threads: { id: string }[] }
    for (const path of ['/v1/events', `/v1/ai/chat/${threads[0]?.id}/stream`]) {
      const answer = await bench.fetch(path, { method: 'HEAD' })
      assert.deepEqual([answer.status, await answer.text()], [200, ''])
    }
  })

  it('that offers HTTP/2 is answered in HTTP/1.1', async () => {
    await using bench = await ServerBench.start([])
    const offer = {
      connection: 'Upgrade, HTTP2-Settings',
      upgrade: 'h2c',
      'http2-settings': 'AAMAAABkAAQAoAAAAAIAAAAA',
    }
    assert.equal((await raw(bench.url, '/v1/modes', { ...bearer(bench.token), ...offer })).status, 200)
    assert.equal((await raw(bench.url, '/v1/modes', offer)).status, 401)
  })
})

describe('static files', () => {
  it('are those of the folder, by no other name', async (t) => {
    const base = await mkdtemp(join(tmpdir(), 'inspan-static-'))
    t.after(() => rm(base, { recursive: true }))
    const pages = await mkdtemp(join(base, 'pages-'))
    await writeFile(join(pages, 'index.html'), '<h1>Page</h1>')
    await writeFile(join(base, 'secret.json'), '"secret"')
    await symlink(join(base, 'secret.json'), join(pages, 'link.json'))
    await writeFile(join(pages, '.env'), 'SECRET=secret')
    await using bench = await ServerBench.start([], { serve: { pages } })
    for (const path of [
      '/../secret.json',
      '/%2e%2e/secret.json',
      '/..%2fsecret.json',
      '/..%5csecret.json',
      '/....//secret.json',
      '//secret.json',
      '/index.html/../../secret.json',
      '/index.html%00.json',
      `/${join(base, 'secret.json')}`,
      `file://${join(base, 'secret.json')}`,
      '/link.json',
      '/.env',
      '/__proto__',
      '/constructor',
    ]) {
      const { body, status } = await raw(bench.url, path, {})
      assert.ok(status >= 400 && status < 500, `${path} is answered with ${status}`)
      assert.doesNotMatch(body, /secret/i, path)
    }
    assert.equal((await raw(bench.url, '/index.html', {})).status, 200)
  })
})

describe('bytes that are no HTTP or no WebSocket', () => {
  /** Sends bytes and returns what is answered until the server ends the connection. */
  function sendBytes(bench: ServerBench, ...bytes: readonly (string | Buffer)[]): Promise<string> {
    return new Promise((resolve) => {
      const socket = connect(bench.server.port, '127.0.0.1')
      let answer = ''
      socket.on('data', (chunk) => (answer += chunk.toString('latin1')))
      socket.on('error', () => undefined)
      socket.on('close', () => resolve(answer))
      for (const each of bytes) socket.write(each)
    })
  }

  it('end their own connection and no other', async () => {
    await using bench = await ServerBench.start([])
    const other = await new WireClient(bench.url, bench.token).opened()
    other.send({ type: 'hello', protocol: 1, clientId: 'other' })
    await other.next('snapshot')
    const host = `host: 127.0.0.1:${bench.server.port}`
    const auth = `authorization: Bearer ${bench.token}`
    const smuggled = `POST /v1/threads HTTP/1.1\r\n${host}\r\n${auth}\r\ncontent-type: application/json\r\ncontent-length: 2\r\ntransfer-encoding: chunked\r\n\r\n0\r\n\r\n`
    for (const bytes of ['\0\0\0\0\r\n\r\n', 'GET\r\n\r\n', `GET / HTTP/1.1\r\n${host}\r\n${host}\r\n\r\n`, smuggled]) {
      assert.match(await sendBytes(bench, bytes), /^(?:HTTP\/1\.1 4\d\d |$)/)
    }
    const upgrade = `GET /v1/ws HTTP/1.1\r\n${host}\r\n${auth}\r\nconnection: Upgrade\r\nupgrade: websocket\r\nsec-websocket-version: 13\r\nsec-websocket-key: dGhlIHNhbXBsZSBub25jZQ==\r\n\r\n`
    const frames: readonly Buffer[] = [
      Buffer.from([0x81, 0x02, 0x7b, 0x7d]), // not masked
      Buffer.from([0xf1, 0x80, 0, 0, 0, 0]), // reserved bits
      Buffer.from([0x83, 0x80, 0, 0, 0, 0]), // an unknown opcode
      Buffer.from([0x81, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff]), // a length of 2^64
      Buffer.from([0x81, 0x82, 0, 0, 0, 0, 0xc3, 0x28]), // no UTF-8
      Buffer.from([0x80, 0x80, 0, 0, 0, 0]), // a continuation of nothing
      Buffer.from([0x09, 0x80, 0, 0, 0, 0]), // a ping in pieces
    ]
    for (const frame of frames) {
      assert.match(await sendBytes(bench, upgrade, frame), /^HTTP\/1\.1 101 /, frame.toString('hex'))
    }
    other.send({ type: 'commands', commands: [{ type: 'rename', title: 'Still here', id: 'r' }] })
    assert.equal((await other.next('receipt')).id, 'r')
    await other.close()
  })
})
