/** What broken, hostile, old and new clients send and receive. */
import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, it } from 'node:test'
import { fileURLToPath } from 'node:url'
import { MemoryStore } from '@inspan/core'
import { applyFrame, applyOps, emptyView, viewFrom, type Op } from '@inspan/protocol/log'
import { toHarnessState } from '@inspan/protocol/wire'
import { uuidV7 } from './commands/uuid.ts'
import { bearer, JSON_TYPE, raw, upgrade } from './raw-request.fixture.ts'
import { ServerBench } from './server.fixture.ts'
import { WireClient } from './wire-client.fixture.ts'

const hello = { type: 'hello', protocol: 1, clientId: 'test' } as const

async function greeted(bench: ServerBench, more: object = {}): Promise<WireClient> {
  const client = await new WireClient(bench.url, bench.token).opened()
  client.send({ ...hello, ...more })
  return client
}

/** Sends a prompt and waits until its run is over. Returns the thread. */
async function say(bench: ServerBench, prompt: string): Promise<string> {
  const client = await greeted(bench)
  const { thread } = await client.next('snapshot')
  client.send({ type: 'commands', commands: [{ type: 'submit', prompt, id: uuidV7() }] })
  await client.next('delta', ({ operations }) => operations.some(({ path }) => path.join('/') === 'head/lastRun'))
  await client.close()
  return thread
}

describe('attacks on the connection', () => {
  it('no token is a 401, a foreign origin a 403, a foreign Host a 421', async () => {
    await using bench = await ServerBench.start([])
    const token = bearer(bench.token)
    for (const path of ['/v1/threads', '/v1/events']) {
      assert.equal((await raw(bench.url, path, {})).status, 401)
      assert.equal((await raw(bench.url, path, { ...token, origin: 'http://evil.example' })).status, 403)
      assert.equal((await raw(bench.url, path, { ...token, host: 'evil.example' })).status, 421)
    }
    assert.equal(await upgrade(bench.url, {}), 401)
    assert.equal(await upgrade(bench.url, { ...token, origin: 'http://evil.example' }), 403)
    assert.equal(await upgrade(bench.url, { ...token, host: 'evil.example' }), 421)
  })

  it('an oversized frame closes its connection and no other', async () => {
    await using bench = await ServerBench.start([])
    const [hostile, other] = [await greeted(bench), await greeted(bench)]
    await hostile.next('snapshot')
    await other.next('snapshot')
    hostile.socket.send(JSON.stringify({ type: 'commands', commands: ['x'.repeat(33 * 1024 * 1024)] }))
    assert.match(await hostile.closed, /^1009/)
    other.send({ type: 'commands', commands: [{ type: 'rename', title: 'Kept', id: uuidV7() }] })
    assert.equal((await other.next('receipt')).status, 'done')
    await other.close()
  })

  it('a message of millions of values is refused before anybody looks at them', async () => {
    await using bench = await ServerBench.start([])
    const client = await greeted(bench)
    await client.next('snapshot')
    const list = `[${'0,'.repeat(2_000_000)}0]`
    const fields = Array.from({ length: 300_000 }, (_, at) => `"t${at}":0`).join()
    for (const text of [
      `{"type":"commands","commands":[{"type":"answer","waitId":"w","decision":"approve","value":${list}}]}`,
      `{"type":"commands","commands":[{"type":"rename","title":"x",${fields}}]}`,
      `{"type":"hello","protocol":1,"clientId":"c","threads":{${fields}}}`,
    ]) {
      client.socket.send(text)
      assert.match((await client.next('error')).message, /too many values/)
      const answer = await bench.fetch('/v1/commands', { method: 'POST', body: text })
      assert.deepEqual([answer.status, /too many values/.test(await answer.text())], [400, true])
    }
    // Commas within a text are part of one value.
    const prompt = ','.repeat(900_000)
    client.send({ type: 'commands', commands: [{ type: 'follow-up', message: prompt, thread: 'x', id: uuidV7() }] })
    assert.equal((await client.next('receipt')).reason, 'unknown-id')
    await client.close()
  })

  it('ten thousand idle sockets keep nobody from being served', { timeout: 120_000 }, async () => {
    await using bench = await ServerBench.start([{ text: 'Hi' }])
    const count = Math.min(10_000, fileLimit() - 1000)
    const env = { ...process.env, COUNT: String(count), PORT: String(bench.server.port), TOKEN: bench.token }
    const script = fileURLToPath(new URL('idle-sockets.fixture.ts', import.meta.url))
    // In a process of their own: each process may have only so many files open.
    const child = spawn(process.execPath, [script], { env, stdio: ['ignore', 'pipe', 'inherit'] })
    const [line] = (await once(child.stdout, 'data')) as [Buffer]
    assert.equal(Number(line.toString()), count)
    const thread = await say(bench, 'Hello')
    assert.equal((await bench.fetch(`/v1/threads/${thread}`)).status, 200)
    child.kill('SIGKILL')
    await once(child, 'close')
  })

  it('a token in an address is refused and printed nowhere', { timeout: 60_000 }, async () => {
    const home = await mkdtemp(join(tmpdir(), 'inspan-logs-'))
    const bin = fileURLToPath(new URL('../../inspan/bin/inspan.js', import.meta.url))
    const args = [bin, 'serve', '--port', '0', '--no-page', '--model', 'openai/none']
    const env = { PATH: process.env['PATH'] ?? '', HOME: home, INSPAN_HOME: home }
    const child = spawn(process.execPath, args, { cwd: home, env, stdio: ['ignore', 'pipe', 'pipe'] })
    let output = ''
    child.stderr.on('data', (chunk: Buffer) => (output += chunk.toString()))
    const [, url = ''] = await new Promise<RegExpMatchArray>((resolve) => {
      child.stdout.on('data', (chunk: Buffer) => {
        output += chunk.toString()
        const found = /Listening on (\S+)/.exec(output)
        if (found !== null) resolve(found)
      })
    })
    const { token } = JSON.parse(await readFile(join(home, 'server-tokens.json'), 'utf8')) as { token: string }
    for (const name of ['token', 'access_token', 'key', 'auth']) {
      assert.equal((await raw(url, `/v1/threads?${name}=${token}`, {})).status, 400)
      assert.equal(await upgrade(url, {}, `/v1/ws?${name}=${token}`), 400)
    }
    assert.equal((await raw(url, '/v1/threads', bearer(token))).status, 200)
    await raw(url, '/v1/commands', { ...bearer(token), ...JSON_TYPE }, 'POST', '{"commands":7}')
    const ended = once(child, 'close')
    child.kill('SIGTERM')
    await ended
    assert.ok(!output.includes(token), output)
    await rm(home, { recursive: true })
  })
})

/** How many files a process may have open, sockets among them. Node raises its own limit to the highest allowed. */
function fileLimit(): number {
  const { userLimits } = process.report.getReport() as { userLimits?: { open_files?: { hard: number | string } } }
  const hard = Number(userLimits?.open_files?.hard)
  return Number.isFinite(hard) ? hard : 20_000
}

describe('a cursor', () => {
  it('a cursor of another session is refused, over HTTP and over the WebSocket', async () => {
    await using bench = await ServerBench.start([{ text: 'one' }])
    const mine = await say(bench, 'Hi')
    const made = (await (await bench.fetch('/v1/threads', { method: 'POST', body: '{}' })).json()) as {
      thread: { id: string }
    }
    const { epoch } = await (await greeted(bench)).next('hello')
    const id = [epoch, mine, 3].map((each) => encodeURIComponent(String(each))).join('/')
    const replayed = await raw(bench.url, `/v1/events?thread=${made.thread.id}`, {
      ...bearer(bench.token),
      'last-event-id': id,
    })
    assert.deepEqual([replayed.status, replayed.body.includes('"delta"')], [400, false])
    // On a WebSocket a cursor is a number. One that the thread never had opens nothing: it is answered by a snapshot.
    const client = await greeted(bench, { epoch, threads: { [made.thread.id]: 1_000 } })
    assert.equal((await client.next('snapshot')).resync, 'gap')
    await client.close()
  })

  it('a cursor of another tenant’s session is refused as if there were no such session', async () => {
    const identify = ({ headers }: { headers: Readonly<Record<string, string | string[] | undefined>> }) => {
      const tenant = headers['x-tenant']
      return typeof tenant === 'string' ? { principal: 'ann', role: 'drive' as const, tenant } : undefined
    }
    await using bench = await ServerBench.start([], { serve: { identify } })
    const made = await raw(bench.url, '/v1/threads', { ...JSON_TYPE, 'x-tenant': 'acme' }, 'POST', '{}')
    const { thread } = JSON.parse(made.body) as { thread: { id: string } }
    const id = ['any', thread.id, 0].map((each) => encodeURIComponent(String(each))).join('/')
    const headers = { 'x-tenant': 'evil', 'last-event-id': id }
    assert.equal((await raw(bench.url, `/v1/events?thread=${thread.id}`, headers)).status, 404)
  })

  it('older than what the server remembers gets an explicit resync, never silence', async () => {
    const storage = new MemoryStore()
    await using bench = await ServerBench.start([{ text: 'one' }, { text: 'two' }], { harness: { storage } })
    const thread = await say(bench, 'Hi')
    const { epoch } = await (await greeted(bench)).next('hello')
    for (const [more, reason] of [
      [{ epoch: 'of a store that was replaced', threads: { [thread]: 2 } }, 'epoch'],
      [{ epoch, threads: { [thread]: 10 ** 12 } }, 'gap'],
    ] as const) {
      const client = await greeted(bench, more)
      const { resync, snapshot } = await client.next('snapshot')
      assert.equal(resync, reason)
      assert.equal(toHarnessState(viewFrom(snapshot)).messages.length, 2)
      await client.close()
    }
  })
})

describe('commands', () => {
  it('commands that come twice, out of order and in batches happen once each, in the order of their batch', async () => {
    await using bench = await ServerBench.start([])
    const client = await greeted(bench)
    await client.next('snapshot')
    const rename = (title: string): object => ({ type: 'rename', title, id: uuidV7() })
    const [first, second, third] = [rename('first'), rename('second'), rename('third')]
    client.send({ type: 'commands', commands: [third, first, third, second] })
    client.send({ type: 'commands', commands: [second, first] })
    const receipts = []
    for (let count = 0; count < 6; count++) receipts.push(await client.next('receipt'))
    assert.deepEqual(new Set(receipts.map(({ status }) => status)), new Set(['done']))
    const { threads } = (await (await bench.fetch('/v1/threads')).json()) as { threads: { title: string }[] }
    assert.equal(threads[0]?.title, 'second', 'what was resent did not happen again')
    await client.close()
  })

  it('with an id that was used for another command are refused', async () => {
    await using bench = await ServerBench.start([])
    const client = await greeted(bench)
    await client.next('snapshot')
    const id = uuidV7()
    client.send({ type: 'commands', commands: [{ type: 'rename', title: 'one', id }] })
    assert.equal((await client.next('receipt')).status, 'done')
    client.send({ type: 'commands', commands: [{ type: 'rename', title: 'two', id }] })
    assert.equal((await client.next('receipt')).status, 'conflict')
    await client.close()
  })

  it('commands with unknown fields take nothing else with them', async () => {
    await using bench = await ServerBench.start([])
    const client = await greeted(bench, { colour: 'blue' })
    await client.next('snapshot')
    const known = { type: 'rename', title: 'Kept', id: uuidV7(), tone: 'friendly' }
    client.send({ type: 'commands', commands: [{ type: 'teleport', to: 'Mars', id: uuidV7() }, known], hint: 1 })
    const receipts = [await client.next('receipt'), await client.next('receipt')]
    assert.deepEqual(
      receipts.map(({ reason, status }) => reason ?? status),
      ['unsupported', 'done'],
    )
    await client.close()
  })
})

describe('ops', () => {
  const paths = [
    ['messages', '__proto__'],
    ['messages', '__proto__', 'polluted'],
    ['messages', 'm', 'parts', '__proto__', 'polluted'],
    ['messages', 'm', 'constructor', 'prototype', 'polluted'],
    ['head', '__proto__', 'polluted'],
    ['head', 'constructor', 'prototype', 'polluted'],
    ['head', 'tasks', '__proto__', 'polluted'],
    ['__proto__', 'polluted'],
    ['constructor', 'prototype', 'polluted'],
  ]

  it('ops with a path to a prototype pollute nothing', () => {
    for (const path of paths) {
      const ops: readonly Op[] = [
        { type: 'set', path, value: 'polluted' },
        { type: 'append-text', path, value: 'polluted' },
        { type: 'remove', path },
      ]
      for (const op of ops) assert.throws(() => applyOps(emptyView('t'), [op]), /path may not contain/, path.join('/'))
    }
    const value = JSON.parse('{"__proto__":{"polluted":true},"id":"m","order":1,"parts":[]}') as never
    applyOps(emptyView('t'), [{ type: 'set', path: ['messages', 'm'], value }])
    assert.equal(Object.hasOwn(Object.prototype, 'polluted'), false)
    assert.equal(({} as { polluted?: unknown }).polluted, undefined)
  })

  it('at a place that is not there are refused or skipped, and change nothing', async () => {
    await using bench = await ServerBench.start([{ text: 'Hello' }])
    await say(bench, 'Hi')
    const client = await greeted(bench)
    const { snapshot } = await client.next('snapshot')
    await client.close()
    const view = viewFrom(snapshot)
    const id = snapshot.messages[1]?.id ?? ''
    const outside: Op = { type: 'append-text', path: ['messages', 'elsewhere', 'parts', '0', 'text'], value: 'x' }
    assert.equal(applyOps(view, [outside]), view, 'a message outside the window')
    assert.equal(applyOps(view, [{ type: 'set', path: ['weather'], value: 'rain' }]), view, 'state of a newer server')
    const broken: readonly Op[] = [
      { type: 'set', path: ['messages', id, 'parts', '99999999'], value: { type: 'text', text: 'x' } },
      { type: 'set', path: ['messages', id, 'parts', '-1'], value: { type: 'text', text: 'x' } },
      { type: 'set', path: ['messages', id, 'parts', '1e3'], value: { type: 'text', text: 'x' } },
      { type: 'append-text', path: ['messages', id, 'parts', '0', 'type', 'deep'], value: 'x' },
      { type: 'append-text', path: ['messages', id, 'parts', '0', 'nothing'], value: 'x' },
      { type: 'append-text', path: ['messages', id, 'parts', '0', 'text'], value: 'x', len: 99 },
      { type: 'append-text', path: ['messages', id], value: 'x' },
      { type: 'set', path: ['messages', 'new'], value: 'no message' },
    ]
    for (const op of broken) {
      assert.throws(() => applyFrame(view, { type: 'delta', seq: view.seq + 1, operations: [op] }), op.path.join('/'))
    }
    assert.deepEqual(toHarnessState(view), toHarnessState(viewFrom(snapshot)))
  })

  it('ops of other kinds, such as a move of a place into itself, are refused', () => {
    const view = emptyView('t')
    const move = { type: 'move', from: ['messages'], path: ['messages', 'm'] } as object as Op
    const copy = { type: 'copy', from: [], path: ['head'] } as object as Op
    for (const op of [move, copy]) assert.throws(() => applyOps(view, [op]))
  })

  it('never come from a client: names that reach a prototype are refused in everything it sends', async () => {
    await using bench = await ServerBench.start([])
    const client = await greeted(bench)
    await client.next('snapshot')
    client.socket.send('{"type":"hello","protocol":1,"clientId":"x","threads":{"__proto__":5}}')
    assert.equal((await client.next('error')).code, 'invalid-input')
    const config = '{"__proto__":{"permissionMode":"fullAuto"},"constructor":{"prototype":{"polluted":1}}}'
    const [configure, fork] = [uuidV7(), uuidV7()]
    client.socket.send(
      `{"type":"commands","commands":[{"type":"configure","id":"${configure}","config":${config}},{"type":"fork","messageId":"__proto__","id":"${fork}"}]}`,
    )
    const receipts = [await client.next('receipt'), await client.next('receipt')]
    assert.equal(receipts.find(({ id }) => id === fork)?.status, 'rejected')
    const { threads } = (await (await bench.fetch('/v1/threads')).json()) as { threads: { id: string }[] }
    const shown = await (await bench.fetch(`/v1/threads/${threads[0]?.id}`)).text()
    assert.doesNotMatch(shown, /fullAuto|polluted/)
    assert.equal(({} as { permissionMode?: unknown }).permissionMode, undefined)
    await client.close()
  })
})

describe('a client of another version', () => {
  it('a newer client is answered in the version of the server; one that is older or has no version is served, too', async () => {
    await using bench = await ServerBench.start([])
    for (const [protocol, answered] of [
      [2, 1],
      [99, 1],
      [1, 1],
      [0, 0],
    ]) {
      const client = await greeted(bench, { protocol, capabilities: ['time-travel'] })
      assert.equal((await client.next('hello')).protocol, answered)
      await client.next('snapshot')
      await client.close()
    }
    const bare = await new WireClient(bench.url, bench.token, []).opened()
    assert.equal((await bare.next('state')).state.status, 'idle')
    await bare.close()
  })
})
