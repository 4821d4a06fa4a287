/** Attacks that succeeded against other servers of this kind. Each must fail here. */
import assert from 'node:assert/strict'
import { mkdtemp, rm, stat, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, it, type TestContext } from 'node:test'
import { bearer, JSON_TYPE, raw, upgrade, WRONG_TOKEN } from './raw-request.fixture.ts'
import { ServerBench } from './server.fixture.ts'

const EVIL = 'http://evil.example'
const SUBMIT = JSON.stringify({ commands: [{ type: 'submit', prompt: 'Delete everything' }] })

/** Nothing was begun, whatever was sent. */
async function assertUntouched(bench: ServerBench): Promise<void> {
  const { threads } = (await (await bench.fetch('/v1/threads')).json()) as { threads: unknown[] }
  assert.deepEqual(threads, [])
  assert.equal(bench.model.requests.length, 0)
}

async function folderOf(t: TestContext): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'inspan-incident-'))
  t.after(() => rm(folder, { recursive: true }))
  return folder
}

/** Every route with its method and role, as the server describes itself. */
async function routesOf(bench: ServerBench): Promise<readonly { method: string; path: string; role: string }[]> {
  const { paths } = (await (await bench.fetch('/v1/openapi.json')).json()) as {
    paths: Record<string, Record<string, { 'x-role': string }>>
  }
  return Object.entries(paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, facts]) => ({
      method: method.toUpperCase(),
      path: path.replaceAll(/\{\w+\}/g, 'x'),
      role: facts['x-role'],
    })),
  )
}

describe('OpenCode before 1.0.216: an HTTP server without a password that every web page could use', () => {
  it('no route answers without a token, and a foreign origin is refused even with one', async () => {
    await using bench = await ServerBench.start([])
    for (const { method, path, role } of await routesOf(bench)) {
      const body = method === 'GET' ? '' : '{}'
      const headers = method === 'GET' ? {} : JSON_TYPE
      if (role !== 'open') assert.equal((await raw(bench.url, path, headers, method, body)).status, 401, path)
      const foreign = await raw(bench.url, path, { ...headers, ...bearer(bench.token), origin: EVIL }, method, body)
      assert.equal(foreign.status, 403, `${method} ${path}`)
      assert.equal(foreign.headers['access-control-allow-origin'], undefined)
    }
    await assertUntouched(bench)
  })
})

describe('OpenCode 1.18: a foreign Host, a plain-text POST and any localhost origin were accepted', () => {
  it('all three are refused, and no session is made', async () => {
    await using bench = await ServerBench.start([])
    const token = bearer(bench.token)
    assert.equal((await raw(bench.url, '/v1/threads', { ...token, host: 'evil.example' })).status, 421)
    const plain = { ...token, 'content-type': 'text/plain', origin: EVIL }
    assert.equal((await raw(bench.url, '/v1/threads', plain, 'POST', '{}')).status, 403)
    const { origin: _origin, ...sameSite } = plain
    assert.equal((await raw(bench.url, '/v1/threads', sameSite, 'POST', '{}')).status, 415)
    const neighbour = await raw(bench.url, '/v1/threads', { ...token, origin: 'http://localhost:9999' })
    assert.deepEqual([neighbour.status, neighbour.headers['access-control-allow-origin']], [403, undefined])
    await assertUntouched(bench)
  })
})

describe('Claude Code IDE extension: a WebSocket on localhost without a token', () => {
  it('the upgrade needs the token, which is in a file that only its user can read', async (t) => {
    const tokenFile = join(await folderOf(t), 'private', 'tokens.json')
    await using bench = await ServerBench.start([], { serve: { tokenFile } })
    for (const path of ['/v1/ws', '/ws']) {
      assert.equal(await upgrade(bench.url, {}, path), 401)
      assert.equal(await upgrade(bench.url, { origin: bench.url }, path), 401)
      assert.equal(await upgrade(bench.url, bearer(bench.token), path), 101)
    }
    assert.equal((await stat(tokenFile)).mode & 0o077, 0)
  })
})

describe('MCP Inspector before 0.14.1: no authentication between page and proxy, reached by DNS rebinding', () => {
  it('a page under a name that resolves to this machine gets nothing, with or without a cookie', async () => {
    await using bench = await ServerBench.start([])
    const { port } = bench.server
    const rebound = { host: `rebound.evil.example:${port}`, origin: `http://rebound.evil.example:${port}` }
    for (const headers of [rebound, { ...rebound, ...bearer(bench.token) }]) {
      assert.equal((await raw(bench.url, '/v1/modes', headers)).status, 421)
      assert.equal((await raw(bench.url, '/v1/commands', { ...headers, ...JSON_TYPE }, 'POST', SUBMIT)).status, 421)
      assert.equal(await upgrade(bench.url, headers), 421)
    }
    await assertUntouched(bench)
  })
})

describe('MCP SDKs for TypeScript, Python and Go: protection against DNS rebinding was off by default', () => {
  it('it is on without any option', async () => {
    await using bench = await ServerBench.start([], { serve: {} })
    const token = bearer(bench.token)
    assert.equal((await raw(bench.url, '/v1/modes', { ...token, host: 'evil.example' })).status, 421)
    assert.equal((await raw(bench.url, '/v1/modes', { ...token, origin: EVIL })).status, 403)
    assert.equal((await raw(bench.url, '/v1/modes', token)).status, 200)
  })
})

describe('OpenClaw: an address in the query made the page send its token to the attacker', () => {
  it('a page may connect to its own server alone, and tokens are never taken from an address', async (t) => {
    const pages = await folderOf(t)
    await writeFile(join(pages, 'index.html'), '<h1>Page</h1>')
    await using bench = await ServerBench.start([], { serve: { pages } })
    const page = await raw(bench.url, '/?gatewayUrl=wss://evil.example', {})
    assert.equal(page.status, 200)
    const policy = String(page.headers['content-security-policy'])
    const [, sources] = /connect-src ([^;]+)/.exec(policy) ?? []
    assert.equal(sources, "'self'")
    const inQuery = `/v1/modes?gatewayUrl=wss://evil.example&token=${bench.token}`
    assert.equal((await raw(bench.url, inQuery, {})).status, 400)
    assert.equal(await upgrade(bench.url, {}, `/v1/ws?token=${bench.token}`), 400)
  })
})

describe('OpenClaw: an unauthenticated command over the WebSocket set the path of a program', () => {
  it('configure needs a token and knows no field for a path or a program', async () => {
    await using bench = await ServerBench.start([])
    const config = { cliPath: '/tmp/evil', executable: '/tmp/evil', command: 'evil', env: { PATH: '/tmp' }, cwd: '/' }
    const body = JSON.stringify({ commands: [{ type: 'configure', config }] })
    assert.equal((await raw(bench.url, '/v1/commands', JSON_TYPE, 'POST', body)).status, 401)
    assert.equal(await upgrade(bench.url, {}), 401)
    await raw(bench.url, '/v1/commands', { ...JSON_TYPE, ...bearer(bench.token) }, 'POST', body)
    const { threads } = (await (await bench.fetch('/v1/threads')).json()) as { threads: { id: string }[] }
    for (const { id } of threads) {
      const thread = await (await bench.fetch(`/v1/threads/${id}`)).text()
      assert.doesNotMatch(thread, /evil/)
    }
  })
})

describe('OpenClaw: any token would do, and a client could give itself the role of an administrator', () => {
  it('a token must be the right one, and a role comes from the server alone', async () => {
    await using bench = await ServerBench.start([])
    for (const token of ['x', 'undefined', 'null', `${bench.token}x`, bench.token.slice(0, -1), WRONG_TOKEN]) {
      assert.equal((await raw(bench.url, '/v1/modes', bearer(token))).status, 401, token)
    }
    const { code } = bench.server.pair('view')
    const claim = { code, name: 'phone', role: 'drive', scopes: ['admin'] }
    const paired = await raw(bench.url, '/v1/pair', JSON_TYPE, 'POST', JSON.stringify(claim))
    const cookie = paired.headers['set-cookie']?.[0]?.split(';')[0] ?? ''
    const asAdmin = { ...JSON_TYPE, cookie, 'x-role': 'drive', 'x-scopes': 'admin' }
    const body = JSON.stringify({ role: 'drive', scopes: ['admin'], ...(JSON.parse(SUBMIT) as object) })
    const { receipts } = JSON.parse((await raw(bench.url, '/v1/commands', asAdmin, 'POST', body)).body) as {
      receipts: { reason?: string }[]
    }
    assert.deepEqual(
      receipts.map(({ reason }) => reason),
      ['denied'],
    )
    assert.equal((await raw(bench.url, '/v1/tokens', asAdmin)).status, 403)
    assert.equal((await raw(bench.url, '/v1/pair/codes', asAdmin, 'POST', '{"role":"drive"}')).status, 403)
  })
})

describe('OpenClaw: tokens could be guessed from this machine, later again with a made-up device token', () => {
  it('ten wrong tokens lock the sender out, on loopback and with any further field', async () => {
    await using bench = await ServerBench.start([])
    const more = { 'x-device-token': 'bogus', 'x-forwarded-for': '203.0.113.9', 'x-real-ip': '203.0.113.9' }
    for (let guess = 0; guess < 10; guess++) {
      assert.equal(await upgrade(bench.url, { ...more, ...bearer(`${WRONG_TOKEN}${guess}`) }), 401)
    }
    assert.equal(await upgrade(bench.url, { ...more, ...bearer(WRONG_TOKEN) }), 429)
    const guess = JSON.stringify({ code: 'guess', deviceToken: 'bogus' })
    assert.equal((await raw(bench.url, '/v1/pair', { ...JSON_TYPE, ...more }, 'POST', guess)).status, 429)
  })

  it('one-time codes cannot be guessed either', async () => {
    await using bench = await ServerBench.start([])
    const { code } = bench.server.pair()
    for (let guess = 0; guess < 10; guess++) {
      const body = JSON.stringify({ code: `guess${guess}`, deviceToken: `bogus${guess}` })
      assert.equal((await raw(bench.url, '/v1/pair', JSON_TYPE, 'POST', body)).status, 401)
    }
    assert.equal((await raw(bench.url, '/v1/pair', JSON_TYPE, 'POST', JSON.stringify({ code }))).status, 429)
  })
})

describe('MLflow Assistant: a path was outside the guard, and a setting gave full access', () => {
  it('no spelling of any route gets past the guard', async () => {
    await using bench = await ServerBench.start([])
    for (const { method, path, role } of await routesOf(bench)) {
      if (role === 'open') continue
      const spellings = [
        path,
        `${path}/`,
        `/${path}`,
        path.toUpperCase(),
        path.replace('/v1', '/%76%31'),
        path.replace('/v1/', '/v1//'),
        path.replace('/v1/', '/v1/pair/../'),
        path.replace('/v1/', '/v1/health/../'),
        path.replace('/v1/', '/v1/health/%2e%2e/'),
        `/v1/pair;${path}`,
        `/v1/pair?${path}`,
        `/ajax-api${path}`,
        `http://127.0.0.1${path}`,
      ]
      for (const spelling of spellings) {
        const { status } = await raw(bench.url, spelling, JSON_TYPE, method, '{}')
        assert.ok(status >= 400 && status < 500, `${method} ${spelling} is answered with ${status}`)
      }
      for (const other of ['HEAD', 'PUT', 'PATCH', 'DELETE', 'OPTIONS', 'QUERY', 'REPORT']) {
        const { status } = await raw(bench.url, path, JSON_TYPE, other, other === 'HEAD' ? '' : '{}')
        assert.ok(status >= 400 && status < 500, `${other} ${path} is answered with ${status}`)
      }
    }
    await assertUntouched(bench)
  })

  it('every route that is described exists, so that the list is the whole truth', async () => {
    await using bench = await ServerBench.start([])
    for (const { method, path } of await routesOf(bench)) {
      if (method === 'GET' && path === '/v1/events') continue
      const { body } = await raw(
        bench.url,
        path,
        { ...JSON_TYPE, ...bearer(bench.token) },
        method,
        method === 'GET' ? '' : '{}',
      )
      assert.doesNotMatch(body, /There is no such route/, `${method} ${path}`)
    }
  })

  it('the permission mode is changed by drivers alone', async () => {
    await using bench = await ServerBench.start([])
    const body = JSON.stringify({ commands: [{ type: 'configure', config: { permissionMode: 'fullAuto' } }] })
    for (const role of ['view', 'approve'] as const) {
      const { code } = bench.server.pair(role)
      const paired = await raw(bench.url, '/v1/pair', JSON_TYPE, 'POST', JSON.stringify({ code }))
      const cookie = paired.headers['set-cookie']?.[0]?.split(';')[0] ?? ''
      const answer = await raw(bench.url, '/v1/commands', { ...JSON_TYPE, cookie }, 'POST', body)
      assert.match(answer.body, /"reason":"denied"/)
    }
  })
})

describe('Cline Hub and Kanban: a WebSocket took any origin, and a wildcard address skipped the check of Host', () => {
  it('both are checked on every address', async () => {
    await using bench = await ServerBench.start([], { serve: { host: '0.0.0.0', allowRemote: true } })
    const url = `http://127.0.0.1:${bench.server.port}`
    for (const path of ['/v1/ws', '/ws', '/browser']) {
      assert.equal(await upgrade(url, { ...bearer(bench.token), origin: EVIL }, path), 421)
    }
    assert.equal((await raw(url, '/v1/modes', bearer(bench.token))).status, 421)
    await using local = await ServerBench.start([])
    for (const path of ['/v1/ws', '/ws', '/browser']) {
      assert.equal(await upgrade(local.url, { ...bearer(local.token), origin: EVIL }, path), 403)
    }
  })
})

describe('CAO, pi-agent-dashboard, ADK, AutoGen Studio, Gemini CLI: loopback and localhost were trusted', () => {
  it('neither the address of the peer nor a local origin replaces the token, on any WebSocket path', async () => {
    await using bench = await ServerBench.start([])
    const { port } = bench.server
    const own = `http://127.0.0.1:${port}`
    const origins: readonly (readonly [origin: string | undefined, withToken: number])[] = [
      [undefined, 101],
      [own, 101],
      [`http://localhost:${port}`, 101],
      ['http://localhost', 403],
      ['http://localhost:3000', 403],
      ['http://127.0.0.1', 403],
      ['http://[::1]:9999', 403],
      [`https://localhost:${port}`, 403],
      ['file://', 403],
      ['null', 403],
      ['vscode-webview://abc', 403],
      ['chrome-extension://abc', 403],
    ]
    for (const path of ['/v1/ws', '/ws']) {
      for (const [origin, withToken] of origins) {
        const headers = origin === undefined ? {} : { origin }
        const without = withToken === 101 ? 401 : 403
        assert.equal(await upgrade(bench.url, { ...headers, 'x-forwarded-for': '127.0.0.1' }, path), without, origin)
        assert.equal(await upgrade(bench.url, { ...headers, ...bearer(bench.token) }, path), withToken, origin)
      }
    }
    for (const path of ['/terminal', '/v1/terminal', '/pty', '/v1/events', '/']) {
      assert.equal(await upgrade(bench.url, {}, path), 401, path)
      assert.equal(await upgrade(bench.url, bearer(bench.token), path), 400, path)
    }
  })

  it('an address carries no command', async () => {
    await using bench = await ServerBench.start([{ text: 'never' }])
    const command = encodeURIComponent(JSON.stringify({ type: 'submit', prompt: 'Delete everything' }))
    const token = bearer(bench.token)
    for (const path of [`/v1/commands?commands=[${command}]`, `/v1/modes?prompt=x&command=${command}`]) {
      await raw(bench.url, path, token)
    }
    assert.equal(await upgrade(bench.url, token, `/v1/ws?prompt=x&command=${command}`, ['inspan.v1']), 101)
    await assertUntouched(bench)
  })
})

describe('MCP TypeScript SDK: an address made a regular expression run for ever', () => {
  it('hostile texts in every place of a request are answered, and longer ones refused', async () => {
    await using bench = await ServerBench.start([])
    const long = 8000
    const texts = [
      '('.repeat(long),
      '%25'.repeat(long / 3),
      ';='.repeat(long / 2),
      'a,'.repeat(long / 2),
      '/'.repeat(long),
    ]
    for (const text of texts) {
      const places: readonly (readonly [path: string, headers: Record<string, string>])[] = [
        [`/v1/threads/${encodeURIComponent(text).slice(0, long)}`, {}],
        [`/v1/threads?search=${encodeURIComponent(text).slice(0, long)}`, {}],
        [`/v1/modes?${encodeURIComponent(text).slice(0, long)}`, {}],
        ['/v1/modes', { cookie: text }],
        ['/v1/modes', { 'sec-websocket-protocol': text }],
        ['/v1/modes', { origin: text }],
        ['/v1/modes', { 'x-forwarded-for': text }],
        ['/v1/events', { 'last-event-id': text }],
      ]
      for (const [path, headers] of places) {
        const { status } = await raw(bench.url, path, { ...bearer(bench.token), ...headers })
        assert.ok(status < 500, `${path.slice(0, 40)} is answered with ${status}`)
      }
      assert.equal((await raw(bench.url, '/v1/modes', { authorization: `Bearer ${text}` })).status, 401)
    }
    assert.equal((await raw(bench.url, `/v1/${'a'.repeat(20_000)}`, bearer(bench.token))).status, 431)
  })
})
