import assert from 'node:assert/strict'
import { mkdtemp, readFile, rm, stat } from 'node:fs/promises'
import { request as httpRequest, type IncomingHttpHeaders } from 'node:http'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, it } from 'node:test'
import { Agent, Harness } from '@inspan/core'
import { schemas } from '@inspan/protocol/schema'
import { COMMAND_TYPES } from '@inspan/protocol/wire'
import { scriptedModel } from '@inspan/testing'
import { WebSocket } from 'ws'
import { bearer, JSON_TYPE, raw, upgrade, WRONG_TOKEN } from './raw-request.fixture.ts'
import { serve } from './serve.ts'
import { ServerBench } from './server.fixture.ts'

describe('every route of the server', () => {
  it('refuses requests without a token, with an empty one and with a wrong one', async () => {
    await using bench = await ServerBench.start([])
    const { paths } = (await (await bench.fetch('/v1/openapi.json')).json()) as {
      paths: Record<string, Record<string, { 'x-role': string }>>
    }
    const routes = Object.entries(paths).flatMap(([path, methods]) =>
      Object.entries(methods).map(([method, facts]) => ({ method: method.toUpperCase(), path, role: facts['x-role'] })),
    )
    assert.ok(routes.length > 15)
    assert.deepEqual(
      routes.filter(({ role }) => role === 'open').map(({ method, path }) => `${method} ${path}`),
      ['POST /v1/pair', 'GET /v1/health', 'GET /v1/ready'],
    )
    for (const { method, path, role } of routes) {
      if (role === 'open') continue
      const place = path.replaceAll(/\{\w+\}/g, 'x')
      for (const headers of [
        {},
        { authorization: 'Bearer ' },
        bearer(WRONG_TOKEN),
        { cookie: 'inspan=1; inspan_0=x' },
      ]) {
        const { status } = await raw(bench.url, place, { ...JSON_TYPE, ...headers }, method)
        assert.equal(status, 401, `${method} ${path} with ${JSON.stringify(headers)}`)
      }
    }
    assert.equal((await raw(bench.url, '/anything', {})).status, 401, 'routes that do not exist')
  })

  it('refuses other origins and host names, whatever the token', async () => {
    await using bench = await ServerBench.start([])
    const token = bearer(bench.token)
    const { port } = bench.server
    for (const host of [
      'evil.example',
      `evil.example:${port}`,
      `127.evil.com:${port}`,
      `localhost.evil.com:${port}`,
      '127.0.0.1',
      `127.0.0.1:${port + 1}`,
    ]) {
      assert.equal((await raw(bench.url, '/v1/modes', { ...token, host })).status, 421, host)
      assert.equal(await upgrade(bench.url, { ...token, host }), 421, host)
    }
    for (const origin of [
      'http://evil.example',
      'http://localhost:9999',
      'null',
      `http://127.0.0.1:${port}.evil.example`,
      `https://127.0.0.1:${port}`,
    ]) {
      const answer = await raw(bench.url, '/v1/modes', { ...token, origin })
      assert.equal(answer.status, 403, origin)
      assert.equal(answer.headers['access-control-allow-origin'], undefined)
      assert.equal(await upgrade(bench.url, { ...token, origin }), 403, origin)
      assert.equal(await upgrade(bench.url, { ...token, origin }, '/ws'), 403, origin)
    }
    const own = `http://127.0.0.1:${port}`
    assert.equal((await raw(bench.url, '/v1/modes', { ...token, origin: own })).status, 200)
    assert.equal(await upgrade(bench.url, { ...token, origin: own }), 101)
    assert.equal((await raw(bench.url, '/v1/modes', { ...token, 'sec-fetch-site': 'cross-site' })).status, 403)
  })

  it('refuses preflights, so that no other page can send JSON', async () => {
    await using bench = await ServerBench.start([])
    const headers = {
      origin: 'http://evil.example',
      'access-control-request-method': 'POST',
      'access-control-request-private-network': 'true',
    }
    const { headers: answer, status } = await raw(bench.url, '/v1/commands', headers, 'OPTIONS')
    assert.equal(status, 403)
    assert.equal(answer['access-control-allow-private-network'], undefined)
  })

  it('takes bodies as JSON only, of limited size and depth', async () => {
    await using bench = await ServerBench.start([])
    const token = bearer(bench.token)
    const body = JSON.stringify({ commands: [{ type: 'submit', prompt: 'Hi' }] })
    for (const type of [
      'text/plain',
      'application/x-www-form-urlencoded',
      'multipart/form-data',
      'application/jsonx',
    ]) {
      const { status } = await raw(bench.url, '/v1/commands', { ...token, 'content-type': type }, 'POST', body)
      assert.equal(status, 415, type)
    }
    assert.equal((await raw(bench.url, '/v1/commands', token, 'POST', body)).status, 415)
    const deep = `{"commands":${'['.repeat(5000)}${']'.repeat(5000)}}`
    assert.equal((await raw(bench.url, '/v1/commands', { ...token, ...JSON_TYPE }, 'POST', deep)).status, 400)
    const huge = { ...token, ...JSON_TYPE, 'content-length': String(10 ** 9) }
    assert.equal(await firstStatus(bench.url, huge), 413)
    const stranger = JSON.stringify({ code: 'x', name: 'x'.repeat(10_000) })
    assert.equal((await raw(bench.url, '/v1/pair', JSON_TYPE, 'POST', stranger)).status, 413, 'without a token')
    for (const clientId of ['', 'x'.repeat(1000), '__proto__', 7, null]) {
      const named = JSON.stringify({ clientId, commands: [] })
      assert.equal((await raw(bench.url, '/v1/commands', { ...token, ...JSON_TYPE }, 'POST', named)).status, 400)
    }
    const { threads } = (await (await bench.fetch('/v1/threads')).json()) as { threads: unknown[] }
    assert.deepEqual(threads, [], 'nothing was done')
    assert.equal((await raw(bench.url, `/v1/events?client=${'x'.repeat(1000)}`, token)).status, 400)
    for (const id of ['%', '%E0%A4%A/x/1', '%/%/%', '//', 'a/b/1e9']) {
      assert.equal((await raw(bench.url, '/v1/events', { ...token, 'last-event-id': id })).status, 400, id)
    }
  })
})

/** Returns the status of a request whose body never comes. */
function firstStatus(url: string, headers: Record<string, string>): Promise<number> {
  return new Promise((resolve, reject) => {
    const request = httpRequest(`${url}/v1/commands`, { method: 'POST', headers }, (response) => {
      resolve(response.statusCode ?? 0)
      request.destroy()
    })
    request.on('error', reject)
    request.write('{')
  })
}

describe('a token', () => {
  it('is needed for WebSockets, in a header of the handshake', async () => {
    await using bench = await ServerBench.start([])
    assert.equal(await upgrade(bench.url, {}), 401)
    assert.equal(await upgrade(bench.url, bearer(WRONG_TOKEN)), 401)
    assert.equal(await upgrade(bench.url, bearer(bench.token)), 101)
    assert.equal(await upgrade(bench.url, {}, '/v1/ws', ['inspan.v1', `inspan.token.${bench.token}`]), 101)
    assert.equal(await upgrade(bench.url, bearer(bench.token), '/terminal'), 400)
  })

  it('is never taken from an address', async () => {
    await using bench = await ServerBench.start([])
    for (const name of ['token', 'access_token', 'auth', 'gatewayUrl=x&token']) {
      const { body, status } = await raw(bench.url, `/v1/modes?${name}=${bench.token}`, {})
      assert.ok(status === 400 || status === 401, name)
      assert.ok(!body.includes(bench.token), 'the answer does not repeat it')
    }
    assert.equal(await upgrade(bench.url, {}, `/v1/ws?token=${bench.token}`), 400)
  })

  it('has at least 128 bits', async () => {
    await using bench = await ServerBench.start([])
    assert.ok(Buffer.from(bench.token, 'base64url').length >= 16)
    const harness = new Harness({
      id: 'x',
      agent: new Agent({ id: 'a', model: scriptedModel([]) }),
      modes: [{ id: 'm' }],
    })
    await assert.rejects(serve({ harness, token: 'secret' }), /128 bits/)
    await harness.destroy()
  })

  it('is kept in a file that only its user can read, and found there again', async () => {
    const folder = await mkdtemp(join(tmpdir(), 'inspan-token-'))
    const tokenFile = join(folder, 'private', 'tokens.json')
    try {
      let token = ''
      for (const round of [1, 2]) {
        await using bench = await ServerBench.start([], { serve: { tokenFile } })
        if (round === 1) ({ token } = bench)
        assert.equal(bench.token, token)
        assert.equal((await stat(tokenFile)).mode & 0o777, 0o600)
        assert.equal((await stat(join(folder, 'private'))).mode & 0o777, 0o700)
      }
      assert.match(await readFile(tokenFile, 'utf8'), new RegExp(token))
    } finally {
      await rm(folder, { recursive: true })
    }
  })

  it('a token that is guessed locks its sender out, on this machine too and whatever else it sends', async () => {
    await using bench = await ServerBench.start([])
    for (let guess = 0; guess < 10; guess++) {
      const headers = {
        ...bearer(`${WRONG_TOKEN}${guess}`),
        'x-device-token': 'mine',
        'x-forwarded-for': `10.0.0.${guess}`,
      }
      assert.equal((await raw(bench.url, '/v1/modes', headers)).status, 401)
    }
    const answer = await raw(bench.url, '/v1/modes', bearer(`${WRONG_TOKEN}x`))
    assert.equal(answer.status, 429)
    assert.ok(Number(answer.headers['retry-after']) > 0)
    assert.equal(await upgrade(bench.url, bearer(`${WRONG_TOKEN}y`)), 429)
  })

  it('a token that is merely old locks nobody out', async () => {
    await using bench = await ServerBench.start([])
    for (let attempt = 0; attempt < 30; attempt++) await raw(bench.url, '/v1/modes', bearer(WRONG_TOKEN))
    assert.equal((await raw(bench.url, '/v1/modes', bearer(bench.token))).status, 200)
  })
})

describe('pairing a browser', () => {
  it('swaps a code for a cookie, once', async () => {
    await using bench = await ServerBench.start([])
    const { code } = bench.server.pair('approve')
    const answer = await raw(bench.url, '/v1/pair', JSON_TYPE, 'POST', JSON.stringify({ code, name: 'phone' }))
    assert.equal(answer.status, 200)
    const [cookie = ''] = answer.headers['set-cookie'] ?? []
    assert.match(cookie, /HttpOnly/)
    assert.match(cookie, /SameSite=Strict/)
    const [pair = ''] = cookie.split(';')
    assert.equal((await raw(bench.url, '/v1/modes', { cookie: pair })).status, 200)
    assert.equal((await raw(bench.url, '/v1/tokens', { cookie: pair })).status, 403, 'the role of the code holds')
    const again = await raw(bench.url, '/v1/pair', JSON_TYPE, 'POST', JSON.stringify({ code }))
    assert.equal(again.status, 401)
  })

  it('can be withdrawn, which ends the connections of the device', async () => {
    await using bench = await ServerBench.start([])
    const { code } = bench.server.pair()
    const { headers } = await raw(bench.url, '/v1/pair', JSON_TYPE, 'POST', JSON.stringify({ code, name: 'phone' }))
    const cookie = headers['set-cookie']?.[0]?.split(';')[0] ?? ''
    const socket = new WebSocket(`${bench.url.replace('http', 'ws')}/v1/ws`, ['inspan.v1'], { headers: { cookie } })
    await new Promise((resolve) => socket.once('open', resolve))
    const closed = new Promise<number>((resolve) => socket.once('close', resolve))
    const { tokens } = (await (await bench.fetch('/v1/tokens')).json()) as { tokens: { id: string; name: string }[] }
    const phone = tokens.find(({ name }) => name === 'phone')
    assert.ok(!JSON.stringify(tokens).includes(cookie.split('=')[1] ?? 'none'), 'tokens are listed without the tokens')
    assert.equal((await bench.fetch(`/v1/tokens/${phone?.id}`, { method: 'DELETE' })).status, 204)
    assert.equal(await closed, 4001)
    assert.equal((await raw(bench.url, '/v1/modes', { cookie })).status, 401)
  })
})

describe('roles and tenants', () => {
  const identify = ({ headers }: { headers: IncomingHttpHeaders }) => {
    const [principal, role, tenant] = String(headers['x-user'] ?? '').split(':')
    if (principal === undefined || principal === '') return undefined
    return { principal, role: role as 'view', ...(tenant === undefined ? {} : { tenant }) }
  }

  it('a viewer reads and changes nothing; an approver only answers', async () => {
    await using bench = await ServerBench.start([{ text: 'Hi' }], { serve: { identify } })
    const send = async (user: string, command: object): Promise<{ status: string; reason?: string }> => {
      const body = JSON.stringify({ commands: [command] })
      const answer = await raw(bench.url, '/v1/commands', { ...JSON_TYPE, 'x-user': user }, 'POST', body)
      const { receipts } = JSON.parse(answer.body) as { receipts: { status: string; reason?: string }[] }
      return receipts[0] ?? { status: 'none' }
    }
    const submit = { type: 'submit', prompt: 'Hi' }
    assert.equal((await send('ann:view', submit)).reason, 'denied')
    assert.equal((await send('ann:approve', submit)).reason, 'denied')
    assert.equal((await send('ann:view', { type: 'approve', toolCallId: 'x' })).reason, 'denied')
    assert.equal((await send('ann:approve', { type: 'approve', toolCallId: 'x' })).reason, 'unknown-id')
    assert.equal((await send('ann:drive', submit)).status, 'done')
    assert.equal(
      (await raw(bench.url, '/v1/threads', { ...JSON_TYPE, 'x-user': 'ann:view' }, 'POST', '{}')).status,
      403,
    )
    assert.equal((await raw(bench.url, '/v1/modes', { 'x-user': 'ann:root' })).status, 401, 'an unknown role')
    assert.equal((await raw(bench.url, '/v1/modes', { 'x-user': '' })).status, 401)
  })

  it('a tenant neither sees nor makes nor revokes tokens, which are those of the whole server', async () => {
    await using bench = await ServerBench.start([], { serve: { identify } })
    const { code } = bench.server.pair()
    await raw(bench.url, '/v1/pair', JSON_TYPE, 'POST', JSON.stringify({ code, name: 'phone' }))
    const { tokens } = (await (await bench.fetch('/v1/tokens')).json()) as { tokens: { id: string; name: string }[] }
    const phone = tokens.find(({ name }) => name === 'phone')?.id ?? ''
    const tenant = { ...JSON_TYPE, 'x-user': 'ann:drive:acme' }
    for (const [method, path] of [
      ['GET', '/v1/tokens'],
      ['DELETE', `/v1/tokens/${phone}`],
      ['POST', '/v1/pair/codes'],
      ['GET', '/v1/metrics'],
    ] as const) {
      const { body, status } = await raw(bench.url, path, tenant, method, method === 'GET' ? '' : '{}')
      assert.deepEqual([status, body.includes('phone'), body.includes('"code":"') && status < 300], [404, false, false])
    }
    assert.equal(((await (await bench.fetch('/v1/tokens')).json()) as { tokens: unknown[] }).tokens.length, 2)
  })

  it('every route asks for the role that is described, reading ones too', async () => {
    await using bench = await ServerBench.start([], { serve: { identify } })
    const { paths } = (await (await bench.fetch('/v1/openapi.json')).json()) as {
      paths: Record<string, Record<string, { 'x-role': string }>>
    }
    const order = ['view', 'approve', 'drive']
    for (const [path, methods] of Object.entries(paths)) {
      for (const [method, { 'x-role': needed }] of Object.entries(methods)) {
        if (needed === 'open' || path === '/v1/events') continue
        for (const role of order) {
          const place = path.replaceAll(/\{\w+\}/g, 'x')
          const headers = { ...JSON_TYPE, 'x-user': `ann:${role}` }
          const { status } = await raw(bench.url, place, headers, method.toUpperCase(), method === 'get' ? '' : '{}')
          const isAllowed = order.indexOf(role) >= order.indexOf(needed)
          assert.equal(status !== 403, isAllowed, `${method} ${path} as ${role} is answered with ${status}`)
        }
      }
    }
  })

  it('one tenant reaches nothing of another, by any route or command', async () => {
    await using bench = await ServerBench.start([{ text: 'secret answer' }], { serve: { identify } })
    const as = (tenant: string): Record<string, string> => ({ ...JSON_TYPE, 'x-user': `ann:drive:${tenant}` })
    const made = await raw(bench.url, '/v1/threads', as('acme'), 'POST', '{"title":"Plans"}')
    const { thread } = JSON.parse(made.body) as { thread: { id: string } }
    const submit = { type: 'submit', prompt: 'Hi', thread: thread.id }
    await raw(bench.url, '/v1/commands', as('acme'), 'POST', JSON.stringify({ commands: [submit] }))
    const place = `/v1/threads/${thread.id}`
    assert.equal((await raw(bench.url, place, as('acme'))).status, 200)
    const { paths } = (await (await bench.fetch('/v1/openapi.json')).json()) as { paths: Record<string, object> }
    const inThread = Object.entries(paths).filter(
      ([path]) => path.includes('{thread}') || path.includes('/ai/chat/{id}'),
    )
    assert.ok(inThread.length > 8)
    for (const [path, methods] of inThread) {
      for (const method of Object.keys(methods)) {
        const theirs = path.replace(/\{(?:thread|id)\}/, thread.id).replaceAll(/\{\w+\}/g, 'x')
        const body = method === 'get' ? '' : '{"title":"mine"}'
        const { status } = await raw(bench.url, theirs, as('evil'), method.toUpperCase(), body)
        assert.equal(status, 404, `${method} ${path}`)
      }
    }
    assert.equal((await raw(bench.url, `/v1/events?thread=${thread.id}`, as('evil'))).status, 404)
    const chat = JSON.stringify({ id: thread.id, messages: [{ role: 'user', parts: [{ type: 'text', text: 'Hi' }] }] })
    assert.equal((await raw(bench.url, '/v1/ai/chat', as('evil'), 'POST', chat)).status, 404)
    const session = await raw(bench.url, `/v1/sessions/${thread.id}/thread`, as('evil'), 'POST', '{}')
    assert.equal(session.status, 404)
    assert.ok(!(await raw(bench.url, '/v1/threads', as('evil'))).body.includes(thread.id))
    // Fields that a command does not have are ignored, so that one object fits all of them.
    const fields = {
      prompt: 'x',
      message: 'x',
      sessionId: thread.id,
      toolCallId: 'x',
      waitId: 'x',
      decision: 'approve',
      itemId: 'x',
      before: null,
      mode: 'plan',
      model: 'x',
      title: 'x',
      messageId: 'x',
      config: { permissionMode: 'fullAuto' },
      thread: thread.id,
    }
    const commands = COMMAND_TYPES.map((type) => ({ ...fields, type }))
    for (const command of commands) assert.ok(schemas.Command.safeParse(command).success, command.type)
    const answer = await raw(bench.url, '/v1/commands', as('evil'), 'POST', JSON.stringify({ commands }))
    const { receipts } = JSON.parse(answer.body) as { receipts: { status: string; reason?: string }[] }
    assert.deepEqual(
      receipts.map(({ reason, status }) => [status, reason]),
      commands.map(() => ['rejected', 'unknown-id']),
    )
  })
})

describe('where the server listens', () => {
  it('on other addresses than loopback only if that is asked for', async () => {
    const harness = new Harness({
      id: 'x',
      agent: new Agent({ id: 'a', model: scriptedModel([]) }),
      modes: [{ id: 'm' }],
    })
    await assert.rejects(serve({ harness, host: '0.0.0.0' }), /allowRemote/)
    await assert.rejects(serve({ harness, host: '192.168.1.5' }), /allowRemote/)
    const server = await serve({ harness, host: '0.0.0.0', allowRemote: true, allowedHosts: ['inspan.example'] })
    const url = `http://127.0.0.1:${server.port}`
    const token = bearer(server.token)
    assert.equal((await raw(url, '/v1/modes', token)).status, 421, 'a wildcard address still checks names')
    assert.equal((await raw(url, '/v1/modes', { ...token, host: 'inspan.example' })).status, 200)
    assert.equal((await raw(url, '/v1/modes', { host: 'inspan.example' })).status, 401)
    await server.close()
    await harness.destroy()
  })

  it('behind a proxy it believes the forwarded headers, otherwise never', async () => {
    const forwarded = { 'x-forwarded-host': 'inspan.example', 'x-forwarded-for': '203.0.113.7' }
    await using plain = await ServerBench.start([], { serve: { allowedHosts: ['inspan.example'] } })
    assert.equal(
      (await raw(plain.url, '/v1/modes', { ...bearer(plain.token), ...forwarded, host: 'evil.example' })).status,
      421,
    )
    await using proxied = await ServerBench.start([], { serve: { allowedHosts: ['inspan.example'], trustProxy: true } })
    assert.equal((await raw(proxied.url, '/v1/modes', { ...bearer(proxied.token), ...forwarded })).status, 200)
  })

  it('answers an allowed name without its port only if that is the default one, which browsers leave out', async () => {
    const allowedHosts = ['Inspan.example:443', 'desk.example:80', '[::1]:80', 'other.example:8443']
    for (const [trustProxy, answered, refused] of [
      [
        true,
        ['inspan.example'],
        ['desk.example', '[::1]', 'other.example', 'inspan.example:80', 'evil.inspan.example'],
      ],
      [false, ['desk.example', '[::1]'], ['inspan.example', 'other.example', 'desk.example:443', 'desk.example.evil']],
    ] as const) {
      await using bench = await ServerBench.start([], { serve: { allowedHosts, trustProxy } })
      const scheme = trustProxy ? 'https' : 'http'
      for (const host of [...answered, ...allowedHosts]) {
        const headers = { ...bearer(bench.token), host, origin: `${scheme}://${host}` }
        assert.equal((await raw(bench.url, '/v1/modes', headers)).status, 200, host)
        assert.equal(await upgrade(bench.url, headers), 101, host)
      }
      for (const host of refused) {
        assert.equal((await raw(bench.url, '/v1/modes', { ...bearer(bench.token), host })).status, 421, host)
      }
    }
  })

  it('behind a proxy it counts guesses by the address that the proxy saw, and serves HTTPS', async () => {
    await using bench = await ServerBench.start([], { serve: { allowedHosts: ['inspan.example'], trustProxy: true } })
    // The proxy appends the address it saw to whatever the sender claimed before.
    const from = (address: string, claimed = '10.9.9.9'): Record<string, string> => ({
      'x-forwarded-host': 'inspan.example',
      'x-forwarded-for': `${claimed}, ${address}`,
    })
    const modes = async (headers: Record<string, string>): Promise<number> =>
      (await raw(bench.url, '/v1/modes', headers)).status
    for (let guess = 0; guess < 10; guess++) {
      const headers = { ...from('203.0.113.7', `10.0.0.${guess}`), ...bearer(`${WRONG_TOKEN}${guess}`) }
      assert.equal(await modes(headers), 401)
    }
    assert.equal(await modes({ ...from('203.0.113.7', '198.51.100.1'), ...bearer(bench.token) }), 429)
    const other = { ...from('198.51.100.1', '203.0.113.7'), ...bearer(bench.token) }
    assert.equal(await modes(other), 200)
    assert.equal(await modes({ ...other, origin: 'https://inspan.example' }), 200)
    assert.equal(await modes({ ...other, origin: 'http://inspan.example' }), 403)
    const body = JSON.stringify({ code: bench.server.pair().code })
    const paired = await raw(bench.url, '/v1/pair', { ...JSON_TYPE, ...from('198.51.100.1') }, 'POST', body)
    assert.match(String(paired.headers['set-cookie']), /; Secure/)
  })

  it('on a unix socket that only its user can open', async () => {
    const folder = await mkdtemp(join(tmpdir(), 'inspan-socket-'))
    const socketPath = join(folder, 'inspan.sock')
    await using bench = await ServerBench.start([], { serve: { socketPath } })
    assert.equal((await stat(socketPath)).mode & 0o777, 0o600)
    const status = await new Promise<number>((resolve, reject) => {
      const options = { socketPath, path: '/v1/modes', headers: { ...bearer(bench.token), host: 'localhost' } }
      httpRequest(options, (response) => {
        response.resume()
        resolve(response.statusCode ?? 0)
      })
        .on('error', reject)
        .end()
    })
    assert.equal(status, 200)
    await bench.server.close()
    await rm(folder, { recursive: true })
  })
})

describe('configure', () => {
  it('takes nothing that names a path or a program', async () => {
    await using bench = await ServerBench.start([])
    const config = {
      model: 'x',
      executable: '/bin/sh',
      cliPath: '/bin/sh',
      mcpServers: {},
      hooks: {},
      cwd: '/',
      env: {},
    }
    const body = JSON.stringify({ commands: [{ type: 'configure', config }] })
    const answer = await bench.fetch('/v1/commands', { method: 'POST', body })
    const { receipts } = (await answer.json()) as { receipts: { status: string }[] }
    assert.equal(receipts[0]?.status, 'done')
    const { threads } = (await (await bench.fetch('/v1/threads')).json()) as { threads: { id: string }[] }
    const thread = await (await bench.fetch(`/v1/threads/${threads[0]?.id}`)).text()
    assert.ok(!thread.includes('/bin/sh'), 'unknown fields are dropped')
  })
})
