import assert from 'node:assert/strict'
import { suite, test } from 'node:test'
import type { LanguageModelV4CallOptions } from '@ai-sdk/provider'
import { scriptedModel } from '@inspan/testing'
import type { LanguageModel } from './language-model.ts'
import { forSpecificationOf } from './older-models.ts'

const file = { type: 'file', mediaType: 'image/png', data: { type: 'data', data: 'aGk=' } } as const
const options: LanguageModelV4CallOptions = {
  prompt: [
    { role: 'system', content: 'Be brief.' },
    { role: 'user', content: [{ type: 'text', text: 'Look.' }, file] },
    {
      role: 'tool',
      content: [
        {
          type: 'tool-result',
          toolCallId: 'c',
          toolName: 'shot',
          output: { type: 'content', value: [{ type: 'text', text: 'Here.' }, file] },
        },
      ],
    },
  ],
}

function model(specificationVersion: 'v2' | 'v3' | 'v4'): LanguageModel {
  return { ...scriptedModel([]), specificationVersion } as unknown as LanguageModel
}

suite('files', () => {
  test("files go to today's models as they are", () => {
    assert.equal(forSpecificationOf(model('v4'), options), options)
  })

  test('files known only by their address go to older models as that address', () => {
    const url = new URL('https://example.org/a.png')
    const linked = { type: 'file', mediaType: 'image/png', data: { type: 'url', url } } as const
    const { prompt } = forSpecificationOf(model('v3'), { prompt: [{ role: 'user', content: [linked] }] })
    assert.deepEqual(prompt[0]?.content, [{ type: 'file', mediaType: 'image/png', data: url }])
  })

  for (const [version, shown] of [
    ['v2', { type: 'media', data: 'aGk=', mediaType: 'image/png' }],
    ['v3', { type: 'file-data', data: 'aGk=', mediaType: 'image/png' }],
  ] as const) {
    test(`files go to models of ${version} in the format of that version`, () => {
      const { prompt } = forSpecificationOf(model(version), options)
      assert.deepEqual(prompt[0], options.prompt[0])
      assert.deepEqual(prompt[1]?.content, [
        { type: 'text', text: 'Look.' },
        { type: 'file', mediaType: 'image/png', data: 'aGk=' },
      ])
      assert.ok(JSON.stringify(prompt[2]).includes(JSON.stringify(shown)))
    })
  }

  for (const version of ['v2', 'v3'] as const) {
    test(`files in reasoning are not sent to models of ${version}, and no message stays empty`, () => {
      const thought = { type: 'reasoning-file', mediaType: 'image/png', data: { type: 'data', data: 'aGk=' } } as const
      const said = { type: 'text', text: 'Done.' } as const
      const { prompt } = forSpecificationOf(model(version), {
        prompt: [
          { role: 'user', content: [{ type: 'text', text: 'Think.' }] },
          { role: 'assistant', content: [thought] },
          { role: 'assistant', content: [thought, said] },
        ],
      })
      assert.deepEqual(
        prompt.map(({ content }) => content),
        [[{ type: 'text', text: 'Think.' }], [said]],
      )
    })
  }
})
