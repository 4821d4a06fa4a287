import assert from 'node:assert/strict'
import { suite, test } from 'node:test'
import { InspanError } from '@inspan/protocol'
import { scriptedModel } from '@inspan/testing'
import { resolveModel } from './resolve-model.ts'

suite('a model', () => {
  test('is taken as it is', async () => {
    const model = scriptedModel([])
    assert.equal(await resolveModel(model), model)
  })

  test('is made from its name by `resolveModel`', async () => {
    const model = scriptedModel([])
    const asked: string[] = []
    const made = await resolveModel('house/one', (modelId) => {
      asked.push(modelId)
      return model
    })
    assert.equal(made, model)
    assert.deepEqual(asked, ['house/one'])
  })

  test('is found by its name in the package of its provider', async () => {
    const model = await resolveModel('anthropic/claude-sonnet-4-5')
    assert.equal(model.modelId, 'claude-sonnet-4-5')
    assert.match(model.provider, /^anthropic/)
  })

  test('a model of a package that is missing reports which package to install', async () => {
    await assert.rejects(
      resolveModel('nobody/x'),
      (error) => InspanError.is(error, 'not-found') && /npm install @ai-sdk\/nobody/.test(error.message),
    )
  })

  for (const name of ['claude', '/x', '../evil/x', 'a b/c', '@scope/x']) {
    test(`is not loaded by an invalid name: ${name}`, async () => {
      await assert.rejects(resolveModel(name), (error) => InspanError.is(error, 'invalid-input'))
    })
  }
})
