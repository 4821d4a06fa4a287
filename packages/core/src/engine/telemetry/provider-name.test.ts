import assert from 'node:assert/strict'
import { test } from 'node:test'
import * as conventions from '@opentelemetry/semantic-conventions/incubating'
import { providerName, WELL_KNOWN } from './provider-name.ts'

test('a provider is called in traces what the conventions call it, or else what it calls itself', () => {
  const named = ['anthropic', 'openai', 'google', 'vertex', 'xai', 'toString'].map(providerName)
  assert.deepEqual(named, ['anthropic', 'openai', 'gcp.gemini', 'gcp.vertex_ai', 'x_ai', 'toString'])
})

test('every name that replaces another is one of the conventions', () => {
  const known = Object.entries(conventions).filter(([name]) => name.startsWith('GEN_AI_PROVIDER_NAME_VALUE_'))
  const names = new Set(known.map(([, value]) => String(value)))
  for (const name of Object.values(WELL_KNOWN)) assert.ok(names.has(name), name)
})
