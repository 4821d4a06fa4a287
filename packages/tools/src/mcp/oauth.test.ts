import assert from 'node:assert/strict'
import { mkdtemp, readdir, rm, stat } from 'node:fs/promises'
import type { IncomingMessage, ServerResponse } from 'node:http'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { test } from 'node:test'
import { McpBench } from './mcp-bench.fixture.ts'
import { McpOAuth } from './oauth.ts'
import { answering, RemoteServer } from './remote-servers.fixture.ts'

/** An MCP server with its own authorization server. Tokens are valid until `expire` is called. */
class ProtectedServer {
  readonly grants: string[] = []
  #valid = 'none'
  #origin = ''

  handle = (request: IncomingMessage, response: ServerResponse): void => {
    this.#origin = `http://${request.headers.host ?? ''}`
    const url = new URL(request.url ?? '/', this.#origin)
    const json = (value: object, status = 200): void =>
      void response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(value))
    if (url.pathname.startsWith('/.well-known/oauth-protected-resource')) {
      return json({ resource: `${this.#origin}/mcp`, authorization_servers: [this.#origin] })
    }
    if (url.pathname.startsWith('/.well-known/oauth-authorization-server')) return json(this.#metadata())
    if (url.pathname === '/register') {
      return void text(request).then((body) => json({ ...(JSON.parse(body) as object), client_id: 'me' }, 201))
    }
    if (url.pathname === '/token')
      return void text(request).then((body) => this.#token(new URLSearchParams(body), json))
    if (url.pathname !== '/mcp') return json({}, 404)
    if (request.headers.authorization === `Bearer ${this.#valid}`) return answering(request, response)
    const metadata = `${this.#origin}/.well-known/oauth-protected-resource/mcp`
    response.writeHead(401, { 'www-authenticate': `Bearer resource_metadata="${metadata}"` }).end()
  }

  expire(): void {
    this.#valid = 'none'
  }

  #token(form: URLSearchParams, json: (value: object) => void): void {
    this.grants.push(form.get('grant_type') ?? '')
    this.#valid = `token-${this.grants.length}`
    json({ access_token: this.#valid, token_type: 'Bearer', expires_in: 3600, refresh_token: 'again' })
  }

  #metadata(): object {
    return {
      issuer: this.#origin,
      authorization_endpoint: `${this.#origin}/authorize`,
      token_endpoint: `${this.#origin}/token`,
      registration_endpoint: `${this.#origin}/register`,
      response_types_supported: ['code'],
      grant_types_supported: ['authorization_code', 'refresh_token'],
      code_challenge_methods_supported: ['S256'],
      token_endpoint_auth_methods_supported: ['none'],
    }
  }
}

test('a person agrees in a browser, tokens are kept for their owner only and refreshed', async (t) => {
  const folder = await mkdtemp(join(tmpdir(), 'inspan-oauth-'))
  t.after(() => rm(folder, { recursive: true }))
  const guarded = new ProtectedServer()
  await using server = await RemoteServer.start(guarded.handle)
  const opened: URL[] = []
  const oauth = new McpOAuth({ folder, open: (url) => void opened.push(url) })
  const config = { a: { type: 'remote', url: `${server.url}/mcp` } } as const
  {
    await using bench = await McpBench.ready(config, { oauth })
    assert.equal(bench.info('a')?.errorDetail?.category, 'http-401')
    const [address] = opened
    assert.equal(address?.searchParams.get('code_challenge_method'), 'S256')
    const back = new URL(address?.searchParams.get('redirect_uri') ?? '')
    assert.equal(back.hostname, '127.0.0.1')

    // Somebody else's browser changes nothing.
    const forged = new URLSearchParams({ code: 'c', state: 'guessed' })
    assert.equal((await fetch(`${back.href}?${forged.toString()}`)).status, 400)
    assert.deepEqual(guarded.grants, [])

    const answer = new URLSearchParams({ code: 'c', state: address?.searchParams.get('state') ?? '' })
    assert.equal((await fetch(`${back.href}?${answer.toString()}`)).status, 200)
    assert.equal(bench.info('a')?.status, 'connected')
    assert.deepEqual(await bench.call('a_look'), { result: 'Bearer token-1' })
    const [file = ''] = await readdir(folder)
    assert.equal((await stat(join(folder, file))).mode & 0o777, 0o600)

    guarded.expire()
    assert.deepEqual(await bench.call('a_look'), { result: 'Bearer token-2' })
    assert.deepEqual(guarded.grants, ['authorization_code', 'refresh_token'])
  }
  // Another process finds the tokens and asks nobody.
  await using later = await McpBench.ready(config, { oauth: new McpOAuth({ folder, open: () => assert.fail() }) })
  assert.equal(later.info('a')?.status, 'connected')
  assert.equal(opened.length, 1)
  await oauth.close()
})
