import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { suite, test } from 'node:test'
import { modelSnapshot } from '../../test/model-snapshot.ts'
import { createClaudeModel, DEFAULT_MODEL_LIMITS, defineModel, Models, selectModel } from './models.ts'

suite('the catalogue of models', () => {
  test('is what its source says today: `node packages/sdk/test/model-snapshot.ts` brings it up to date', () => {
    const text = readFileSync(new URL('./snapshot.ts', import.meta.url), 'utf8')
    assert.equal(text, modelSnapshot())
  })

  test('knows the window and the formats of its models, and refuses other names', () => {
    const { contextWindow, provider, supportedFormats } = Models.getByName('anthropic/claude-sonnet-4-5')
    assert.equal(contextWindow, 200_000)
    assert.equal(provider, 'anthropic')
    assert.ok(supportedFormats?.formats.some(({ mimeType }) => mimeType === 'application/pdf'))
    assert.throws(() => Models.getByName('anthropic/nobody'), { type: 'MODEL_NOT_SUPPORTED' })
    assert.ok(Models.names().every((name) => Models.getByName(name).contextWindow > 0))
    assert.equal(Models.getByName('openai/o3-mini').supportedFormats, null)
  })

  test('gives names of other systems their model', () => {
    assert.equal(selectModel('llmgateway__OpenAIGPT5').id, 'openai/gpt-5')
  })

  test('lets a model that it does not know have the documented defaults', () => {
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
