import assert from 'node:assert/strict'
import { test } from 'node:test'
import { providerName } from './provider-name.ts'

test('a provider is called in traces what the conventions call it, or else what it calls itself', () => {
  const named = ['anthropic', 'openai', 'google', 'vertex', 'xai', 'toString'].map(providerName)
  assert.deepEqual(named, ['anthropic', 'openai', 'gcp.gemini', 'gcp.vertex_ai', 'x_ai', 'toString'])
})
