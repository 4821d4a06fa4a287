import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { readFile } from 'node:fs/promises'
import { createRequire } from 'node:module'
import { suite, test } from 'node:test'
import { fileURLToPath, pathToFileURL } from 'node:url'
import { scriptedModel } from '@inspan/testing'
import { ModelCatalogue } from './model-catalogue.ts'
import type { ModelGateway } from './model-types.ts'
import { priceOf } from './price-list.ts'

const SONNET = 'anthropic/claude-sonnet-4-5'

suite('the catalogue of models', () => {
  test('knows names, context windows and prices without asking anybody', async () => {
    const models = await new ModelCatalogue({ env: { ANTHROPIC_API_KEY: 'sk' } }).list()
    const sonnet = models.find(({ id }) => id === SONNET)
    assert.deepEqual(sonnet, {
      id: SONNET,
      provider: 'anthropic',
      modelName: 'claude-sonnet-4-5',
      hasApiKey: true,
      apiKeyEnvVar: 'ANTHROPIC_API_KEY',
      useCount: 0,
      contextWindow: 200_000,
      price: { input: 3, output: 15, cacheRead: 0.3, cacheWrite: 3.75 },
    })
    assert.ok(models.length > 500)
    assert.equal(new Set(models.map(({ id }) => id)).size, models.length)
    assert.equal(models.find(({ provider }) => provider === 'openai')?.hasApiKey, false)
  })

  test('is a snapshot: nothing is fetched for it, and the documentation names it', async () => {
    const { fetch } = globalThis
    const fetched: unknown[] = []
    globalThis.fetch = (url) => {
      fetched.push(url)
      return Promise.reject(new Error('offline'))
    }
    try {
      assert.ok((await new ModelCatalogue({ env: {} }).list()).length > 500)
      assert.ok((await priceOf(SONNET, { inputTokens: 1_000_000 })) ?? 0)
    } finally {
      globalThis.fetch = fetch
    }
    assert.deepEqual(fetched, [])
    const entry = createRequire(import.meta.url).resolve('@pydantic/genai-prices')
    const manifest = await readFile(new URL('../package.json', pathToFileURL(entry)), 'utf8')
    const { version } = JSON.parse(manifest) as { version: string }
    const page = await readFile(new URL('../../../../../docs/guide/harness.md', import.meta.url), 'utf8')
    assert.ok(page.includes(`genai-prices\` ${version} of 20`), version)
  })

  test('asks the checker for keys before the environment', async () => {
    const asked: string[] = []
    const catalogue = new ModelCatalogue({
      env: { OPENAI_API_KEY: 'sk', GROQ_API_KEY: 'gsk' },
      modelAuthChecker: (provider) => {
        asked.push(provider)
        return provider === 'anthropic' ? true : provider === 'openai' ? false : undefined
      },
    })
    const byProvider = new Map((await catalogue.list()).map((model) => [model.provider, model.hasApiKey]))
    assert.deepEqual(
      ['anthropic', 'openai', 'groq', 'mistral'].map((provider) => byProvider.get(provider)),
      [true, false, true, false],
    )
    assert.equal(asked.filter((provider) => provider === 'openai').length, 1)
    assert.deepEqual(await catalogue.authStatus('openai/gpt-5'), { hasAuth: false, apiKeyEnvVar: 'OPENAI_API_KEY' })
    assert.deepEqual(await catalogue.authStatus(SONNET), { hasAuth: true, apiKeyEnvVar: 'ANTHROPIC_API_KEY' })
    assert.deepEqual(await catalogue.authStatus('mistral/unlisted'), {
      hasAuth: false,
      apiKeyEnvVar: 'MISTRAL_API_KEY',
    })
    assert.deepEqual(await catalogue.authStatus(''), { hasAuth: true })
  })

  test('asks for no key where the user makes the models of a provider that nobody else knows', async () => {
    const resolveModel = () => scriptedModel([])
    assert.deepEqual(await new ModelCatalogue({ resolveModel, env: {} }).authStatus('local/llama'), { hasAuth: true })
    const openai = await new ModelCatalogue({ resolveModel, env: {} }).authStatus('openai/gpt-5')
    assert.deepEqual(openai, { hasAuth: false, apiKeyEnvVar: 'OPENAI_API_KEY' })
    const checked = new ModelCatalogue({ resolveModel, env: {}, modelAuthChecker: () => false })
    assert.deepEqual(await checked.authStatus('local/llama'), { hasAuth: false })
    assert.deepEqual(await new ModelCatalogue({ env: {} }).authStatus('local/llama'), { hasAuth: false })
  })

  test('puts what was used most first, and reports a use to the tracker', async () => {
    const used: string[] = []
    const catalogue = new ModelCatalogue({
      modelUseCountProvider: async () => ({ 'openai/gpt-4o': 3, [SONNET]: 7 }),
      modelUseCountTracker: (modelId) => void used.push(modelId),
    })
    const [first, second, third] = await catalogue.list()
    assert.deepEqual([first?.id, first?.useCount, second?.id, third?.useCount], [SONNET, 7, 'openai/gpt-4o', 0])
    await catalogue.noteUse(SONNET)
    assert.deepEqual(used, [SONNET])
  })

  test('takes in what the user adds, which overrules the list', async () => {
    const catalogue = new ModelCatalogue({
      customModelCatalogProvider: () => [
        { id: 'local/llama', hasApiKey: true, contextWindow: 8_192 },
        { id: SONNET, contextWindow: 1_000_000, apiKeyEnvVar: 'MY_KEY' },
      ],
      env: { MY_KEY: 'k' },
    })
    const models = await catalogue.list()
    assert.deepEqual(
      models.find(({ id }) => id === 'local/llama'),
      {
        id: 'local/llama',
        provider: 'local',
        modelName: 'llama',
        hasApiKey: true,
        contextWindow: 8_192,
        useCount: 0,
      },
    )
    assert.equal(models.filter(({ id }) => id === SONNET).length, 1)
    assert.deepEqual(await catalogue.authStatus(SONNET), { hasAuth: true, apiKeyEnvVar: 'MY_KEY' })
    assert.equal(await catalogue.contextWindowOf(SONNET), 1_000_000)
  })

  test('is read anew when it is invalidated', async () => {
    let reads = 0
    const catalogue = new ModelCatalogue({ customModelCatalogProvider: () => (reads++, [{ id: `mine/${reads}` }]) })
    await catalogue.list()
    await catalogue.list()
    assert.equal(reads, 1)
    catalogue.invalidate()
    assert.ok((await catalogue.list()).some(({ id }) => id === 'mine/2'))
  })

  test('continues without a source that fails, and reports it', async () => {
    const failures: string[] = []
    const catalogue = new ModelCatalogue({
      customModelCatalogProvider: () => {
        throw new Error('no catalogue')
      },
      onFailure: (error) => failures.push(error.message),
    })
    assert.ok((await catalogue.list()).length > 500)
    assert.deepEqual(failures, ['no catalogue'])
  })
})

suite('a gateway', () => {
  const model = scriptedModel([])
  const asked: object[] = []
  const gateway: ModelGateway = {
    id: 'corp',
    name: 'Corp Inc.',
    fetchProviders: async () => ({
      openai: { name: 'OpenAI', models: ['gpt-x'], apiKeyEnvVar: ['CORP_KEY', 'OTHER_KEY'] },
    }),
    handlesModel: (modelId) => modelId === 'bare/model',
    getApiKey: async (modelId) => `key of ${modelId}`,
    resolveLanguageModel: (args) => {
      asked.push(args)
      return model
    },
  }

  test('adds its models under its own name, with what people call them by', async () => {
    const catalogue = new ModelCatalogue({ gateways: [gateway], env: { OTHER_KEY: 'k' } })
    assert.deepEqual(
      (await catalogue.list()).find(({ id }) => id === 'corp/openai/gpt-x'),
      {
        id: 'corp/openai/gpt-x',
        provider: 'corp/openai',
        providerName: 'OpenAI',
        modelName: 'gpt-x',
        gateway: 'Corp Inc.',
        hasApiKey: true,
        apiKeyEnvVar: 'CORP_KEY',
        useCount: 0,
      },
    )
  })

  for (const [what, getApiKey, hasApiKey] of [
    ['gives a key', async () => 'k', true],
    ['gives an empty one', async () => '', false],
    ['throws for want of one', () => Promise.reject(new Error('no key')), false],
  ] as const) {
    test(`says whether its models can be used: it ${what}`, async () => {
      const catalogue = new ModelCatalogue({ gateways: [{ ...gateway, getApiKey }], env: {} })
      const apiKeyEnvVar = 'CORP_KEY'
      assert.deepEqual(await catalogue.authStatus('corp/openai/gpt-x'), { hasAuth: hasApiKey, apiKeyEnvVar })
      assert.deepEqual(await catalogue.authStatus('bare/model'), { hasAuth: hasApiKey })
      const models = await catalogue.list()
      assert.equal(models.find(({ id }) => id === 'corp/openai/gpt-x')?.hasApiKey, hasApiKey)
      assert.equal(models.find(({ id }) => id === SONNET)?.hasApiKey, false)
      const checked = new ModelCatalogue({ gateways: [gateway], modelAuthChecker: () => false, env: {} })
      assert.equal((await checked.authStatus('corp/openai/gpt-x')).hasAuth, false)
    })
  }

  test('goes by its id when it has no name', async () => {
    const { name: _name, ...nameless } = gateway
    const models = await new ModelCatalogue({ gateways: [nameless] }).list()
    assert.equal(models.find(({ id }) => id === 'corp/openai/gpt-x')?.gateway, 'corp')
    assert.equal(models.find(({ id }) => id === SONNET)?.gateway, undefined)
  })

  test('a gateway that cannot list its models is named, and the others are there', async () => {
    const failed: Error[] = []
    const cause = new Error('connection refused')
    const broken = { ...gateway, fetchProviders: () => Promise.reject(cause) }
    const models = await new ModelCatalogue({ gateways: [broken], onFailure: (error) => failed.push(error) }).list()
    assert.ok(models.some(({ id }) => id === SONNET))
    assert.deepEqual(
      failed.map((error) => [error.message, error.cause]),
      [['Corp Inc. cannot say which models it offers: connection refused', cause]],
    )
  })

  test('makes the models it offers or takes, and no others', async () => {
    const catalogue = new ModelCatalogue({ gateways: [gateway] })
    assert.equal(await catalogue.resolve('corp/openai/gpt-x'), model)
    assert.equal(await catalogue.resolve('bare/model'), model)
    assert.deepEqual(asked, [
      { modelId: 'gpt-x', providerId: 'openai', apiKey: 'key of corp/openai/gpt-x' },
      { modelId: 'model', providerId: 'bare', apiKey: 'key of bare/model' },
    ])
    assert.equal(await catalogue.resolve(SONNET), undefined)
  })

  test('is nothing when it is switched off, and comes after resolveModel', async () => {
    const off = new ModelCatalogue({ gateways: [{ ...gateway, shouldEnable: () => false }] })
    assert.equal(await off.resolve('corp/openai/gpt-x'), undefined)
    assert.ok(!(await off.list()).some(({ id }) => id.startsWith('corp/')))
    const own = scriptedModel([])
    const catalogue = new ModelCatalogue({ gateways: [gateway], resolveModel: () => own })
    assert.equal(await catalogue.resolve('corp/openai/gpt-x'), own)
  })
})

suite('the price of an answer', () => {
  test('counts cached and cache-written input at their own rates', async () => {
    const usage = {
      inputTokens: 1_000_000 - 300_000,
      cachedInputTokens: 200_000,
      cacheWriteInputTokens: 100_000,
      outputTokens: 100_000,
    }
    // A model without a rate for long prompts: 1 $ in, 0.1 $ cached, 1.25 $ written, 5 $ out, per million.
    const price = await priceOf('anthropic/claude-haiku-4-5', usage)
    assert.equal(price?.toFixed(6), (0.7 * 1 + 0.2 * 0.1 + 0.1 * 1.25 + 0.1 * 5).toFixed(6))
  })

  test('is not made up for a model nobody knows', async () => {
    assert.equal(await priceOf('nobody/nothing-1', { inputTokens: 10 }), undefined)
  })

  test('costs nothing at the start: the list is read when it is asked for', () => {
    const module = fileURLToPath(new URL('model-catalogue.ts', import.meta.url))
    const program = `import { registerHooks } from 'node:module'
      registerHooks({ resolve(name, context, next) { if (name.includes('genai-prices')) throw new Error('read'); return next(name, context) } })
      const { ModelCatalogue } = await import(${JSON.stringify(module)})
      new ModelCatalogue()`
    const { status, stderr } = spawnSync(process.execPath, ['--input-type=module', '-e', program], { encoding: 'utf8' })
    assert.equal(status, 0, stderr)
  })
})
