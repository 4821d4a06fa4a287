import assert from 'node:assert/strict'
import { suite, test } from 'node:test'
import type { LanguageModelV4Prompt } from '@ai-sdk/provider'
import { scriptedModel } from '@inspan/testing'
import { withoutBlankTexts } from './blank-texts.ts'
import type { LanguageModel } from './language-model.ts'

const from = (provider: string): LanguageModel => ({ ...scriptedModel([]), provider })

const signed = { type: 'text', text: '', providerOptions: { google: { thoughtSignature: 'abc' } } } as const
const prompt: LanguageModelV4Prompt = [
  { role: 'user', content: [{ type: 'text', text: 'Draw.' }] },
  { role: 'assistant', content: [{ type: 'text', text: 'Here.' }, signed] },
  { role: 'assistant', content: [signed] },
]

suite('an empty text with a signature', () => {
  for (const provider of ['google.generative-ai', 'vertex.google', 'my-google']) {
    test(`goes back to the provider who gave it (${provider})`, () => {
      assert.deepEqual(withoutBlankTexts(from(provider), prompt), prompt)
    })
  }

  test('goes to no other, nor does a message that has nothing else', () => {
    assert.deepEqual(withoutBlankTexts(from('anthropic.messages'), prompt), [
      prompt[0],
      { role: 'assistant', content: [{ type: 'text', text: 'Here.' }] },
    ])
  })
})
