import assert from 'node:assert/strict'
import { mkdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { suite, test } from 'node:test'
import { ApiKeyConnectivityResolver, EnvConnectivityResolver, type AgentConfig } from '../index.ts'
import { folders } from '../sdk.fixture.ts'

suite('a connection', () => {
  test('is made from the environment, a profile, or one key', async () => {
    await using it = await folders()
    const env: Record<string, string> = { OPENAI_API_KEY: 'env-key', OPENAI_BASE_URL: 'http://env' }
    const resolver = new EnvConnectivityResolver({ env, home: it.root })
    const request = (config: AgentConfig): Parameters<typeof resolver.resolve>[0] => ({
      agentId: 'a',
      projectRoot: it.project,
      config,
    })
    const modelId = 'openai/gpt-5'
    const plain = await resolver.resolve(request({ modelId }))
    assert.equal(plain.model.baseUrl, 'http://env')
    assert.equal(plain.orgConnection, undefined)
    assert.deepEqual(await plain.model.headers(), { authorization: 'Bearer env-key' })
    env['OPENAI_API_KEY'] = 'renewed'
    assert.deepEqual(await plain.model.headers(), { authorization: 'Bearer renewed' })
    assert.equal((await resolver.resolve(request({}))).model.isDefault, true)

    const profiles = { work: { apiKey: 'work-key', baseUrl: 'http://work' }, home: { apiKeyEnv: 'MINE' } }
    await mkdir(join(it.root, '.inspan'))
    await writeFile(join(it.root, '.inspan', 'config.json'), JSON.stringify({ profile: 'home', profiles }))
    env['MINE'] = 'my-key'
    const fallback = await resolver.resolve(request({ modelId: 'anthropic/claude-sonnet-4-5' }))
    assert.deepEqual(await fallback.model.headers(), { 'x-api-key': 'my-key' })
    const chosen = await resolver.resolve(request({ modelId, orgAlias: 'work' }))
    assert.deepEqual(chosen.orgConnection, { profile: 'work' })
    assert.equal(chosen.model.baseUrl, 'http://work')
    assert.deepEqual(await chosen.model.headers(), { authorization: 'Bearer work-key' })
    env['INSPAN_PROFILE'] = 'work'
    assert.deepEqual((await resolver.resolve(request({ modelId }))).orgConnection, { profile: 'work' })
    await assert.rejects(resolver.resolve(request({ modelId, profile: 'nobody' })), { type: 'CONNECTIVITY_FAILED' })

    const keys = ['first', 'second']
    const own = new ApiKeyConnectivityResolver({ apiKey: () => keys.shift() ?? '', headers: { 'x-team': 't' } })
    const { model, orgConnection } = await own.resolve(request({ modelId }))
    assert.equal(orgConnection, undefined)
    assert.deepEqual(await model.headers(), { authorization: 'Bearer first', 'x-team': 't' })
    assert.deepEqual(await model.headers(), { authorization: 'Bearer second', 'x-team': 't' })
    assert.throws(() => new ApiKeyConnectivityResolver({ apiKey: '' }), { type: 'INVALID_OPTIONS' })
  })
})
