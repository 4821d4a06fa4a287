import assert from 'node:assert/strict'
import { suite, test } from 'node:test'
import { SqliteStore } from '@inspan/core'
import { bearer, raw } from './raw-request.fixture.ts'
import { ServerBench } from './server.fixture.ts'

suite('operating a server', () => {
  test('health and readiness need no token and reveal nothing', async () => {
    await using bench = await ServerBench.start([])
    const health = await fetch(`${bench.url}/v1/health`)
    assert.deepEqual([health.status, await health.json()], [200, { status: 'ok' }])
    const ready = await fetch(`${bench.url}/v1/ready`)
    assert.deepEqual([ready.status, await ready.json()], [200, { status: 'ready' }])
  })

  test('probes may ask for health and readiness under any name, such as the address of a container', async () => {
    await using bench = await ServerBench.start([])
    const host = '10.1.2.3:8080'
    for (const route of ['health', 'ready']) assert.equal((await raw(bench.url, `/v1/${route}`, { host })).status, 200)
    assert.equal((await raw(bench.url, '/v1/health', { host, 'content-type': 'x' }, 'POST', '{}')).status, 421)
    assert.equal((await raw(bench.url, '/v1/metrics', { ...bearer(bench.token), host })).status, 421)
  })

  test('the server lives but is not ready while its store does not answer', async () => {
    const storage = new BrokenStore({ url: ':memory:' })
    await using bench = await ServerBench.start([], { harness: { storage } })
    storage.isBroken = true
    assert.equal((await fetch(`${bench.url}/v1/health`)).status, 200)
    assert.equal((await fetch(`${bench.url}/v1/ready`)).status, 503)
    storage.isBroken = false
    assert.equal((await fetch(`${bench.url}/v1/ready`)).status, 200)
  })

  test('metrics need the token of the owner, and are text that Prometheus reads', async () => {
    await using bench = await ServerBench.start([])
    assert.equal((await fetch(`${bench.url}/v1/metrics`)).status, 401)
    const answer = await bench.fetch('/v1/metrics')
    assert.match(answer.headers.get('content-type') ?? '', /^text\/plain; version=0\.0\.4/)
    const text = await answer.text()
    // Every line is a comment or a name and a number.
    for (const line of text.trimEnd().split('\n')) assert.match(line, /^(# (HELP|TYPE) \w+ .+|\w+ [\d.e+-]+)$/)
    assert.match(text, /^inspan_waits_pending 0$/m)
  })
})

class BrokenStore extends SqliteStore {
  isBroken = false

  override async listOwners(query: Parameters<SqliteStore['listOwners']>[0]): ReturnType<SqliteStore['listOwners']> {
    if (this.isBroken) throw new Error('The disk is gone.')
    return super.listOwners(query)
  }
}
