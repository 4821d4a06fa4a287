import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { MemoryStore } from '@inspan/core'
import { generateKeyPair, jwtVerify, SignJWT, UnsecuredJWT, type CryptoKey, type JWTPayload } from 'jose'
import type { Role } from './auth/identity.ts'
import type { Identify } from './http/guard.ts'
import { JSON_TYPE, raw, upgrade } from './raw-request.fixture.ts'
import { ServerBench } from './server.fixture.ts'

const ISSUER = 'https://login.example'
const AUDIENCE = 'inspan'

/** The hook as the docs show it: a signed token of a login service says who calls. */
function byJwt(key: CryptoKey): Identify {
  return async ({ headers }) => {
    const token = headers['x-access-token']
    if (typeof token !== 'string') return undefined
    const options = { issuer: ISSUER, audience: AUDIENCE, algorithms: ['ES256'] }
    const { payload } = await jwtVerify<{ role: Role; org: string }>(token, key, options)
    return { principal: payload.sub ?? '', role: payload.role, tenant: payload.org }
  }
}

function signed(
  key: CryptoKey,
  claims: JWTPayload,
  more: { expires?: string; audience?: string } = {},
): Promise<string> {
  return new SignJWT(claims)
    .setProtectedHeader({ alg: 'ES256' })
    .setIssuer(ISSUER)
    .setAudience(more.audience ?? AUDIENCE)
    .setExpirationTime(more.expires ?? '5m')
    .sign(key)
}

const as = (token: string): Record<string, string> => ({ ...JSON_TYPE, 'x-access-token': token })

describe('identify with signed tokens', () => {
  it('gives principal, role and tenant, which are recorded with what the caller does', async () => {
    const { privateKey, publicKey } = await generateKeyPair('ES256')
    const storage = new MemoryStore()
    await using bench = await ServerBench.start([{ text: 'Hi' }], {
      harness: { storage },
      serve: { identify: byJwt(publicKey) },
    })
    const ann = await signed(privateKey, { sub: 'ann', role: 'drive', org: 'acme' })
    const body = JSON.stringify({ commands: [{ type: 'submit', prompt: 'Hello' }] })
    const answer = await raw(bench.url, '/v1/commands', as(ann), 'POST', body)
    assert.match(answer.body, /"status":"done"/)
    const { items } = await storage.listThreads({ resourceId: 'acme' })
    const { items: records } = await storage.readRecords(items[0]?.id ?? '', {})
    assert.equal(records.find((each) => each.body.type === 'message.added')?.by, 'acme/ann')
    const bob = await signed(privateKey, { sub: 'bob', role: 'view', org: 'acme' })
    assert.match((await raw(bench.url, '/v1/commands', as(bob), 'POST', body)).body, /"reason":"denied"/)
    const eve = await signed(privateKey, { sub: 'ann', role: 'drive', org: 'evil' })
    assert.equal((await raw(bench.url, `/v1/threads/${items[0]?.id}`, as(eve))).status, 404)
    assert.equal(await upgrade(bench.url, { 'x-access-token': ann }), 101)
  })

  it('refuses what is forged, expired, for somebody else or without a role, and falls back to the tokens', async () => {
    const { privateKey, publicKey } = await generateKeyPair('ES256')
    const { privateKey: foreign } = await generateKeyPair('ES256')
    await using bench = await ServerBench.start([], { serve: { identify: byJwt(publicKey) } })
    const claims = { sub: 'ann', role: 'drive', org: 'acme' }
    const good = await signed(privateKey, claims)
    const [header, , signature] = good.split('.')
    const altered = Buffer.from(JSON.stringify({ ...claims, role: 'drive', org: 'evil' })).toString('base64url')
    const bad: Readonly<Record<string, string>> = {
      'another key': await signed(foreign, claims),
      'no signature': new UnsecuredJWT(claims).setIssuer(ISSUER).setAudience(AUDIENCE).encode(),
      'altered claims': `${header}.${altered}.${signature}`,
      expired: await signed(privateKey, claims, { expires: '-1m' }),
      'another audience': await signed(privateKey, claims, { audience: 'payroll' }),
      'no role': await signed(privateKey, { sub: 'ann', org: 'acme' }),
      'a role of its own': await signed(privateKey, { ...claims, role: 'admin' }),
      'no subject': await signed(privateKey, { role: 'drive', org: 'acme' }),
      'no token': 'x',
    }
    assert.equal((await raw(bench.url, '/v1/modes', as(good))).status, 200)
    assert.equal((await bench.fetch('/v1/modes')).status, 200)
    for (const [why, token] of Object.entries(bad)) {
      assert.equal((await raw(bench.url, '/v1/modes', as(token))).status, 401, why)
    }
    assert.equal(await upgrade(bench.url, { 'x-access-token': bad['expired'] ?? '' }), 401)
    for (let guess = 0; guess < 10; guess++) await raw(bench.url, '/v1/modes', as(`guess${guess}`))
    assert.equal((await raw(bench.url, '/v1/modes', as(good))).status, 429, 'guesses lock their sender out')
  })
})
