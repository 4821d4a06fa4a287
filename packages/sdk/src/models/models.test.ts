import assert from 'node:assert/strict'
import { suite, test } from 'node:test'
import { readFileSync } from 'node:fs'
import { documentedFiles, modelSnapshot, pricedWindows } from '../../test/model-snapshot.ts'
import { checkInput } from '../check-input.ts'
import { createClaudeModel, DEFAULT_MODEL_LIMITS, defineModel, Models, selectModel } from './models.ts'
import { MODELS } from './snapshot.ts'

suite('the catalogue of models', () => {
  test('has the windows of the price list: `node packages/sdk/test/model-snapshot.ts` brings it up to date', () => {
    const windows = Models.names().map((name) => [name, Models.getByName(name).contextWindow] as const)
    assert.deepEqual(Object.fromEntries(windows), pricedWindows())
  })

  test('knows the window and the formats of its models, and refuses other names', () => {
    const { contextWindow, nativeId, provider, supportedFormats } = Models.getByName('anthropic/claude-sonnet-4-5')
    assert.equal(nativeId, 'claude-sonnet-4-5')
    assert.equal(contextWindow, 200_000)
    assert.equal(Models.getDefault().id, 'anthropic/claude-sonnet-4-5')
    assert.equal(provider, 'anthropic')
    assert.ok(supportedFormats?.formats.some(({ mimeType }) => mimeType === 'application/pdf'))
    assert.throws(() => Models.getByName('anthropic/nobody'), { type: 'MODEL_NOT_SUPPORTED' })
    assert.ok(Models.names().every((name) => Models.getByName(name).contextWindow > 0))
    for (const name of ['mistral/codestral', 'openai/gpt-3.5-turbo', 'openai/gpt-4', 'openai/o3-mini', 'xai/grok-3'])
      assert.equal(Models.getByName(name).supportedFormats, null, name)
    const images = Models.getByName('xai/grok-4.5').supportedFormats
    assert.deepEqual(
      images?.formats.map(({ mimeType }) => mimeType),
      ['image/png', 'image/jpeg'],
    )
  })

  test('has the files that a provider documents, in its types, sizes and number', () => {
    const seen = new Set<string>()
    for (const name of Models.names()) {
      const model = Models.getByName(name)
      const { provider, supportedFormats } = model
      if (supportedFormats === null || supportedFormats === DEFAULT_MODEL_LIMITS.supportedFormats) continue
      const takesPdf = supportedFormats.formats.some(({ mimeType }) => mimeType === 'application/pdf')
      assert.deepEqual(supportedFormats, documentedFiles(provider, takesPdf), name)
      seen.add(provider)
    }
    // Written again from what it says of each model, the snapshot is the same.
    const known = Models.names().map((name) => [name, MODELS[name]?.supportedFormats] as const)
    const catalogue = known.flatMap(([name, takes]) => {
      if (takes === undefined || takes === null) return []
      return [
        [name, { image: true, pdf: takes.formats.some(({ mimeType }) => mimeType === 'application/pdf') }] as const,
      ]
    })
    const textOnly = new Set(known.flatMap(([name, takes]) => (takes === null ? [name] : [])))
    const text = readFileSync(new URL('./snapshot.ts', import.meta.url), 'utf8')
    assert.equal(text, modelSnapshot(Object.fromEntries(catalogue), textOnly))
    assert.deepEqual([...seen].toSorted(), ['anthropic', 'google', 'mistral', 'openai', 'xai'])
    // What is documented is what is checked.
    const model = Models.getByName('mistral/mistral-large-2512')
    const image = (bytes: number) =>
      [{ type: 'image', mimeType: 'image/png', data: Buffer.alloc(bytes).toString('base64') }] as const
    checkInput([...image(10 * 1024 * 1024)], model)
    const refused = { type: 'MULTIMODAL_NOT_SUPPORTED' }
    assert.throws(() => checkInput([...image(10 * 1024 * 1024 + 1)], model), refused)
    assert.throws(() => checkInput(Array.from({ length: 9 }, () => image(3)).flat(), model), refused)
  })

  test('gives names of other systems their model', () => {
    assert.equal(selectModel('llmgateway__OpenAIGPT5').id, 'openai/gpt-5')
  })

  test('lets a model that it does not know have the documented defaults', () => {
    const { contextWindow, supportedFormats } = Models.getByName('anthropic/claude-3-5-haiku-latest')
    assert.deepEqual([contextWindow, supportedFormats], [200_000, DEFAULT_MODEL_LIMITS.supportedFormats])
    const model = selectModel('acme/large')
    assert.deepEqual({ ...model }, { id: 'acme/large', provider: 'acme', nativeId: 'large', ...DEFAULT_MODEL_LIMITS })
    assert.throws(() => selectModel('nonsense'), { type: 'MODEL_NOT_SUPPORTED' })
    assert.equal(selectModel(undefined).id, Models.getDefault().id)
  })

  test('makes models of its own: what is given counts, the rest is inherited', () => {
    const claude = createClaudeModel('anthropic/claude-next', { contextWindow: 5 })
    assert.equal(claude.contextWindow, 5)
    assert.equal(claude.nativeId, 'claude-next')
    assert.deepEqual(claude.supportedFormats, Models.getDefault().supportedFormats)
    assert.equal(defineModel({ id: 'a/b', supportedFormats: null }).supportedFormats, null)
    assert.throws(() => defineModel({ id: '' }), { type: 'MODEL_NOT_SUPPORTED' })
    assert.throws(() => defineModel({ id: 'a/b', contextWindow: 0 }), { type: 'MODEL_NOT_SUPPORTED' })
  })
})
