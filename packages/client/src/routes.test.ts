import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { Agent, Harness } from '@inspan/core'
import { InspanError } from '@inspan/protocol'
import { serve } from '@inspan/server'
import { scriptedModel } from '@inspan/testing'
import { connect } from './index.ts'

async function start() {
  const agent = new Agent({ id: 'agent', model: scriptedModel([]) })
  const harness = new Harness({ id: 'routes', agent, modes: [{ id: 'build' }] })
  const server = await serve({ harness })
  const client = await connect({ url: server.url, token: server.token })
  /** Swaps a code for the cookie of a browser, and returns what the server answers to whoever has it. */
  const pair = async (code: string): Promise<{ status: number; token: string }> => {
    const body = JSON.stringify({ code, name: 'phone' })
    const headers = { 'content-type': 'application/json' }
    const answer = await fetch(`${server.url}/v1/pair`, { method: 'POST', headers, body })
    return { status: answer.status, token: /=([^;]+)/.exec(answer.headers.get('set-cookie') ?? '')?.[1] ?? '' }
  }
  const listThreads = async (token: string): Promise<number> =>
    (await fetch(`${server.url}/v1/threads`, { headers: { authorization: `Bearer ${token}` } })).status
  return {
    client,
    server,
    pair,
    listThreads,
    [Symbol.asyncDispose]: async () => {
      await client.close()
      await server.close()
      await harness.destroy()
    },
  }
}

describe('client.routes', () => {
  it('makes a pairing code, lists the device that used it, and revokes it', async () => {
    await using place = await start()
    const { routes } = place.client
    assert.deepEqual(
      (await routes.tokens()).map(({ isOwner }) => isOwner),
      [true],
    )
    const { code, expiresAt } = await routes.pairingCode('view')
    assert.ok(expiresAt > Date.now())
    const paired = await place.pair(code)
    assert.deepEqual([paired.status, await place.listThreads(paired.token)], [200, 200])
    assert.equal((await place.pair(code)).status, 401, 'a code works once')

    const tokens = await routes.tokens()
    const phone = tokens.find(({ name }) => name === 'phone')
    assert.deepEqual([tokens.length, phone?.role, phone?.isOwner], [2, 'view', undefined])
    assert.ok(!JSON.stringify(tokens).includes(paired.token), 'the token itself is not listed')

    await routes.revokeToken(phone?.id ?? '')
    assert.equal(await place.listThreads(paired.token), 401)
    assert.equal((await routes.tokens()).length, 1)
    await assert.rejects(routes.revokeToken(phone?.id ?? ''), (error) => InspanError.is(error, 'not-found'))
  })

  it('a device that may only view can neither make codes nor list tokens', async () => {
    await using place = await start()
    const { code } = await place.client.routes.pairingCode('view')
    const { token } = await place.pair(code)
    const viewer = await connect({ url: place.server.url, token })
    const { routes } = viewer
    for (const call of [() => routes.tokens(), () => routes.pairingCode(), () => routes.revokeToken('x')]) {
      await assert.rejects(call, /does not allow/)
    }
    await viewer.close()
  })
})
