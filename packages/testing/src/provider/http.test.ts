import assert from 'node:assert/strict'
import { once } from 'node:events'
import { request as httpRequest } from 'node:http'
import { connect } from 'node:net'
import { describe, test } from 'node:test'
import zlib from 'node:zlib'
import { formats, paths, post, requestBody } from '../../test/clients.ts'
import { startProvider } from './start-provider.ts'
import type { Provider } from './provider.ts'

describe('requests of models', () => {
  test('are recorded byte for byte, with headers, route and turn', async () => {
    await using provider = await startProvider([{ text: 'a' }])
    const body = '{ "model":"m",\n "max_tokens": 9, "messages":[{"role":"user","content":"Grüße \\u00fc 👍🏽"}] }'
    await post(provider, '/v1/messages?beta=true', body, { 'x-api-key': 'k', 'user-agent': 'test/1' })
    const [request] = provider.requests
    assert.equal(request?.text, body)
    assert.deepEqual(request.body, JSON.parse(body))
    assert.equal(request.method, 'POST')
    assert.equal(request.path, '/v1/messages?beta=true')
    assert.equal(request.headers['x-api-key'], 'k')
    assert.equal(request.api, 'anthropic')
    assert.equal(request.route, 'main')
    assert.equal(request.turn, 0)
    assert.ok(Math.abs(request.at - Date.now()) < 3_600_000)
  })

  for (const format of formats) {
    test(`${format}: the path may have any beginning`, async () => {
      await using provider = await startProvider([{ text: 'a', repeat: true }])
      const path = paths[format]
      for (const address of [path, path.replace('/v1', ''), `/api/gateway${path}`]) {
        assert.equal((await post(provider, address, requestBody(format, 'Hi'))).status, 200, address)
      }
      assert.deepEqual(provider.unexpected, [])
    })

    test(`${format}: a body that is no JSON object is refused and uses up no turn`, async () => {
      await using provider = await startProvider([{ text: 'a' }])
      for (const body of ['{"model"', '[]', '']) {
        const response = await post(provider, paths[format], body)
        assert.equal(response.status, 400)
        assert.match(await response.text(), /not a JSON object/)
      }
      assert.equal(provider.unexpected.length, 3)
      assert.equal(provider.turnsLeft, 1)
    })
  }

  test('the headers of a turn are sent', async () => {
    await using provider = await startProvider([
      { text: 'a', headers: { 'anthropic-ratelimit-requests-remaining': '7' } },
    ])
    const response = await post(provider, '/v1/messages', requestBody('anthropic', 'Hi'))
    assert.equal(response.headers.get('anthropic-ratelimit-requests-remaining'), '7')
    assert.match(response.headers.get('request-id') ?? '', /^req_/)
  })

  test('many at the same time all get an answer, and every turn is played once', async () => {
    const turns = Array.from({ length: 60 }, (_, index) => ({ text: `turn ${index}.` }))
    await using provider = await startProvider(turns)
    const answers = await Promise.all(
      turns.map(async (_, index) => {
        const format = formats[index % formats.length] ?? 'chat'
        const response = await post(provider, paths[format], requestBody(format, `ask ${index}`, { stream: true }))
        return /turn \d+\./.exec(await response.text())?.[0]
      }),
    )
    assert.equal(new Set(answers).size, 60)
    assert.equal(provider.turnsLeft, 0)
    const asked = provider.requests.map((request) => /ask \d+/.exec(request.text)?.[0])
    assert.equal(new Set(asked).size, 60)
  })

  test('chat sends usage only to those who ask for it', async () => {
    await using provider = await startProvider([
      { text: 'a', usage: { inputTokens: 7, outputTokens: 3 }, repeat: true },
    ])
    const stream = async (extra: object): Promise<string> => {
      const body = requestBody('chat', 'Hi', { stream: true, ...extra })
      return (await post(provider, paths.chat, body)).text()
    }
    assert.doesNotMatch(await stream({}), /prompt_tokens/)
    assert.match(await stream({ stream_options: { include_usage: true } }), /"prompt_tokens":7,"completion_tokens":3/)
  })
})

describe('bodies', () => {
  const encodings = {
    gzip: zlib.gzipSync,
    deflate: zlib.deflateSync,
    br: zlib.brotliCompressSync,
    zstd: zlib.zstdCompressSync,
  }
  for (const [encoding, pack] of Object.entries(encodings)) {
    test(`may be packed with ${encoding}`, async () => {
      await using provider = await startProvider([{ text: 'unpacked' }])
      const text = requestBody('responses', 'Hi '.repeat(10_000))
      const response = await fetch(`${provider.url}/v1/responses`, {
        method: 'POST',
        headers: { 'content-encoding': encoding },
        body: new Uint8Array(pack(text)),
      })
      assert.match(await response.text(), /unpacked/)
      assert.equal(provider.requests[0]?.text, text)
    })
  }

  test('bodies that cannot be unpacked are refused', async () => {
    await using provider = await startProvider([{ text: 'a' }])
    const status = async (encoding: string): Promise<number> =>
      (await post(provider, '/v1/responses', 'no such packing', { 'content-encoding': encoding })).status
    assert.equal(await status('gzip'), 400)
    assert.equal(await status('lzma'), 415)
    assert.equal(provider.unexpected.length, 2)
  })

  test('over the limit get 413, packed or not', async () => {
    await using provider = await startProvider([{ text: 'a' }], { maxBodyBytes: 1000 })
    const text = requestBody('anthropic', 'x'.repeat(200_000))
    assert.equal((await post(provider, '/v1/messages', text)).status, 413)
    const packed = await fetch(`${provider.url}/v1/messages`, {
      method: 'POST',
      headers: { 'content-encoding': 'gzip' },
      body: new Uint8Array(zlib.gzipSync(text)),
    })
    assert.equal(packed.status, 413)
    assert.match(await packed.text(), /request_too_large/)
    assert.equal(provider.turnsLeft, 1)
  })

  test('bodies of several megabytes arrive whole', async () => {
    await using provider = await startProvider([{ text: 'a' }])
    const text = requestBody('chat', 'ü'.repeat(3_000_000))
    assert.equal((await post(provider, paths.chat, text)).status, 200)
    assert.equal(provider.requests[0]?.text, text)
  })

  test('may be announced with Expect: 100-continue', async () => {
    await using provider = await startProvider([{ text: 'a' }])
    const request = httpRequest(`${provider.url}/v1/messages`, { method: 'POST', headers: { expect: '100-continue' } })
    request.flushHeaders()
    await once(request, 'continue')
    request.end(requestBody('anthropic', 'Hi'))
    const [response] = await once(request, 'response')
    assert.equal(response.statusCode, 200)
    response.resume()
    await once(response, 'end')
  })
})

describe('other requests of clients', () => {
  test('the list of models, in the format of both vendors', async () => {
    await using provider = await startProvider([], { models: ['gpt-5', 'claude-opus'] })
    for (const path of ['/v1/models', '/models?limit=20']) {
      const list = (await (await fetch(provider.url + path)).json()) as { data: { id: string }[]; object: string }
      assert.equal(list.object, 'list')
      assert.deepEqual(
        list.data.map((model) => model.id),
        ['gpt-5', 'claude-opus'],
      )
    }
    const one = (await (await fetch(`${provider.url}/v1/models/vendor%2Fmodel`)).json()) as { id: string; type: string }
    assert.equal(one.id, 'vendor/model')
    assert.equal(one.type, 'model')
    assert.equal(provider.otherRequests.length, 3)
    assert.equal(provider.requests.length, 0)
  })

  test('the number of tokens', async () => {
    await using provider = await startProvider([{ text: 'a' }])
    const count = async (text: string): Promise<number> => {
      const response = await post(provider, '/v1/messages/count_tokens?beta=true', requestBody('anthropic', text))
      return ((await response.json()) as { input_tokens: number }).input_tokens
    }
    assert.ok((await count('long '.repeat(100))) > (await count('short')))
    assert.equal(provider.turnsLeft, 1)
  })

  test('a WebSocket gets 426, and the same connection no more', async () => {
    await using provider = await startProvider([{ text: 'a' }])
    const answer = await rawExchange(
      provider,
      'GET /v1/responses HTTP/1.1\r\nhost: x\r\nconnection: Upgrade\r\nupgrade: websocket\r\n' +
        'sec-websocket-version: 13\r\nsec-websocket-key: dGVzdA==\r\n\r\n',
    )
    assert.match(answer, /^HTTP\/1\.1 426 Upgrade Required\r\n/)
    assert.equal(provider.otherRequests[0]?.path, '/v1/responses')
    assert.equal(provider.turnsLeft, 1)
  })

  test('a health check, which reveals nothing of how the client is set up', async () => {
    await using provider = await startProvider([{ text: 'a' }])
    assert.equal((await fetch(`${provider.url}/api/hello`, { method: 'HEAD' })).status, 200)
    assert.deepEqual(
      provider.otherRequests.map(({ method, path }) => `${method} ${path}`),
      ['HEAD /api/hello'],
    )
    assert.deepEqual(provider.unexpected, [])
  })

  test('anything else gets 404 and is logged', async () => {
    await using provider = await startProvider([{ text: 'a' }])
    assert.equal((await post(provider, '/v1/embeddings', '{"input":"x"}')).status, 404)
    assert.equal((await fetch(`${provider.url}/v1/messages`)).status, 404)
    assert.deepEqual(
      provider.unexpected.map(({ method, path, text }) => [method, path, text]),
      [
        ['POST', '/v1/embeddings', '{"input":"x"}'],
        ['GET', '/v1/messages', ''],
      ],
    )
    assert.equal(provider.requests.length, 0)
  })
})

describe('the server', () => {
  test('closes while answers hang, and can be closed twice', async () => {
    const provider = await startProvider([{ text: 'begun', hang: true }, { hang: true }])
    const begun = await post(provider, paths.chat, requestBody('chat', 'Hi', { stream: true }))
    const reading = begun.text()
    const never = post(provider, paths.chat, requestBody('chat', 'Hi'))
    const failures = Promise.allSettled([reading, never])
    await provider.waitForRequests(2)
    await Promise.all([provider.close(), provider.close()])
    assert.deepEqual(
      (await failures).map((result) => result.status),
      ['rejected', 'rejected'],
    )
    assert.deepEqual(
      [await provider.waitForOutcome(0), await provider.waitForOutcome(1)],
      ['client-gone', 'client-gone'],
    )
    await assert.rejects(fetch(provider.url))
  })

  test('breaks off the answers under way, and answers what is asked then', async () => {
    await using provider = await startProvider([{ text: 'begun', hang: true }, { text: 'again' }])
    const begun = await post(provider, paths.chat, requestBody('chat', 'Hi', { stream: true }))
    provider.cut()
    await assert.rejects(begun.text())
    assert.equal(await provider.waitForOutcome(0), 'cut')
    const again = await post(provider, paths.chat, requestBody('chat', 'Hi', { stream: true }))
    assert.match(await again.text(), /again/)
  })

  test('a wait that cannot be fulfilled fails with what was waited for', async () => {
    const provider = await startProvider([])
    await assert.rejects(provider.waitForRequests(1, 1), {
      name: 'WaitFailed',
      message: 'Waiting for 1 requests: nothing within 1 ms',
    })
    const waiting = assert.rejects(provider.waitForOutcome(0), /the provider is closed/)
    await provider.close()
    await waiting
  })

  test('a port that is taken is an error', async () => {
    await using provider = await startProvider([])
    await assert.rejects(startProvider([], { port: provider.port }), { code: 'EADDRINUSE' })
  })

  test('a bad script is refused before anything listens', async () => {
    await assert.rejects(startProvider([Object.assign({ text: 'a' }, { tolCalls: [] })]), {
      name: 'InvalidScript',
      message: 'Invalid script: turns[0].tolCalls: unknown key. Did you mean "toolCalls"?',
    })
  })
})

async function rawExchange(provider: Provider, text: string): Promise<string> {
  const socket = connect(provider.port, '127.0.0.1')
  socket.write(text)
  const chunks: Buffer[] = []
  for await (const chunk of socket as AsyncIterable<Buffer>) chunks.push(chunk)
  return Buffer.concat(chunks).toString('utf8')
}
