import assert from 'node:assert/strict'
import { mkdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { suite, test } from 'node:test'
import { ApiKeyConnectivityResolver, defineModel, EnvConnectivityResolver, Models, type AgentConfig } from '../index.ts'
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
    assert.equal(plain.model.model.nativeId, 'gpt-5')
    assert.equal(plain.orgConnection, undefined)
    assert.deepEqual(await plain.model.headers(), { authorization: 'Bearer env-key' })
    env['OPENAI_API_KEY'] = 'renewed'
    assert.deepEqual(await plain.model.headers(), { authorization: 'Bearer renewed' })
    const byDefault = await resolver.resolve(request({}))
    assert.deepEqual([byDefault.model.isDefault, byDefault.model.model], [true, Models.getDefault()])
    const mine = defineModel({ id: 'openai/mine', contextWindow: 1_000 })
    assert.deepEqual((await resolver.resolve(request({ modelId: mine }))).model.model, mine)
    await assert.rejects(resolver.resolve(request({ modelId: 'nonsense' })), { type: 'MODEL_NOT_SUPPORTED' })
    env['CONSTRUCTOR_API_KEY'] = 'odd'
    const odd = await resolver.resolve(request({ modelId: 'constructor/any' }))
    assert.deepEqual(await odd.model.headers(), { authorization: 'Bearer odd' })

    const work = { apiKey: 'work-key', baseUrl: 'http://work', headers: { 'x-org': 'o' } }
    const profiles = { work, home: { apiKeyEnv: 'MINE' } }
    await mkdir(join(it.root, '.inspan'))
    await writeFile(join(it.root, '.inspan', 'config.json'), JSON.stringify({ profile: 'home', profiles }))
    env['MINE'] = 'my-key'
    const fallback = await resolver.resolve(request({ modelId: 'anthropic/claude-sonnet-4-5' }))
    assert.deepEqual(await fallback.model.headers(), { 'x-api-key': 'my-key' })
    const chosen = await resolver.resolve(request({ modelId, orgAlias: 'work' }))
    assert.deepEqual(chosen.orgConnection, { profile: 'work' })
    assert.equal(chosen.model.baseUrl, 'http://work')
    assert.deepEqual(await chosen.model.headers(), { authorization: 'Bearer work-key', 'x-org': 'o' })
    // That of the project counts more than that of the user, and the environment more than both.
    await mkdir(join(it.project, '.inspan'))
    const ofProject = { profile: 'site', profiles: { site: { apiKey: 'site-key' } } }
    await writeFile(join(it.project, '.inspan', 'config.json'), JSON.stringify(ofProject))
    assert.deepEqual((await resolver.resolve(request({ modelId }))).orgConnection, { profile: 'site' })
    env['INSPAN_PROFILE'] = 'work'
    assert.deepEqual((await resolver.resolve(request({ modelId }))).orgConnection, { profile: 'work' })
    assert.deepEqual((await resolver.resolve(request({ modelId, profile: 'home' }))).orgConnection, { profile: 'home' })
    await assert.rejects(resolver.resolve(request({ modelId, profile: 'nobody' })), { type: 'CONNECTIVITY_FAILED' })

    const keys = ['first', 'second']
    const given = { baseUrl: 'http://own', headers: { 'x-team': 't' } }
    const own = new ApiKeyConnectivityResolver({ apiKey: () => keys.shift() ?? '', ...given })
    const { model, orgConnection } = await own.resolve(request({ modelId }))
    assert.equal(orgConnection, undefined)
    assert.deepEqual([model.baseUrl, model.model.nativeId], ['http://own', 'gpt-5'])
    assert.deepEqual(await model.headers(), { authorization: 'Bearer first', 'x-team': 't' })
    assert.deepEqual(await model.headers(), { authorization: 'Bearer second', 'x-team': 't' })
    assert.throws(() => new ApiKeyConnectivityResolver({ apiKey: '' }), { type: 'INVALID_OPTIONS' })
  })
})
