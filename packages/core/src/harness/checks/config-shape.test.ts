import assert from 'node:assert/strict'
import { suite, test } from 'node:test'
import { Agent, createTool } from '@inspan/agent'
import { InspanError } from '@inspan/protocol'
import { scriptedModel } from '@inspan/testing'
import { z } from 'zod'
import { Harness } from '../harness.ts'

const base = { id: 'h', agent: new Agent({ id: 'agent', model: scriptedModel([]) }), modes: [{ id: 'a' }] }
const subagent = { id: 's', name: 'S', description: 'Looks.', instructions: 'Look.' }

suite('a configuration of the wrong kind is refused with an error that names the field', () => {
  const cases: readonly (readonly [title: string, config: unknown, field: RegExp])[] = [
    ['none at all', undefined, /configuration of a harness .*`id` and `modes`/],
    ['no id', { ...base, id: undefined }, /`id`/],
    ['no modes', { ...base, modes: undefined }, /`modes`/],
    ['modes that are no list', { ...base, modes: { a: {} } }, /`modes`/],
    ['a mode without an id', { ...base, modes: [{ id: 'a' }, {}] }, /`modes\[1\]\.id`/],
    ['a mode that is none', { ...base, modes: ['a'] }, /`modes\[0\]`/],
    ['an agent of a mode that is none', { ...base, modes: [{ id: 'a', agent: {} }] }, /`modes\[0\]\.agent`/],
    ['a tool of a mode that is none', { ...base, modes: [{ id: 'a', tools: { x: {} } }] }, /`modes\[0\]\.tools\.x`/],
    [
      'a driver of another port',
      { ...base, agent: { id: 'old', open: () => undefined } },
      /"old" was written to another version of the driver port/,
    ],
    ['an agent that is none', { ...base, agent: {} }, /`agent`/],
    ['an agent without an id', { ...base, agent: { open: () => undefined } }, /`agent`/],
    ['a schema that is none', { ...base, stateSchema: {} }, /`stateSchema`/],
    ['a store that is none', { ...base, storage: {} }, /`storage`/],
    ['a redactor that is none', { ...base, redact: /sk-/ }, /`redact`/],
    ['an end of interrupted calls that is none', { ...base, onInterrupted: 'maybe' }, /`onInterrupted`/],
    ['a time that is none', { ...base, approvalTimeout: '5m' }, /`approvalTimeout` of a harness/],
    ['a time that is over', { ...base, parkAfter: -1 }, /`parkAfter` of a harness/],
    ['no time', { ...base, keepWarm: null }, /`keepWarm` of a harness/],
    ['half a token', { ...base, handoverTokens: 0.5 }, /`handoverTokens` of a harness/],
    ['a lock that is none', { ...base, threadLock: {} }, /`threadLock`/],
    ['a tool that is none', { ...base, tools: { paint: 'x' } }, /`tools\.paint`/],
    ['tools that are none', { ...base, tools: 'all' }, /`tools`/],
    ['a built-in tool there is not', { ...base, disableBuiltinTools: ['nope'] }, /"nope".*ask_user/],
    ['built-in tools that are no list', { ...base, disableBuiltinTools: 'ask_user' }, /`disableBuiltinTools`/],
    ['a subagent with only an id', { ...base, subagents: [{ id: 's' }] }, /`subagents\[0\]\.name`/],
    ['an option that is misspelt', { ...base, storge: {} }, /`storge` is not an option of a harness\. .*"storage"\?/],
    [
      'one of a mode',
      { ...base, modes: [{ id: 'a', instrutions: '' }] },
      /`instrutions` .*`modes\[0\]`.*"instructions"/,
    ],
    ['one of a budget', { ...base, modes: [{ id: 'a', budget: { token: 5 } }] }, /`token` .*mode "a".*"tokens"/],
    ['one of a subagent', { ...base, subagents: [{ ...subagent, maxStep: 5 }] }, /`maxStep` .*"maxSteps"/],
    ['a subagent without instructions', { ...base, subagents: [{ ...subagent, instructions: '' }] }, /instructions`/],
  ]
  for (const [title, config, field] of cases) {
    test(title, () => {
      assert.throws(
        () => new Harness(config as never),
        (error) => InspanError.is(error, 'invalid-input') && field.test(error.message),
      )
    })
  }

  test('a message with a misspelt option is refused as well', async () => {
    const harness = new Harness(base)
    const message = { content: 'Look.', file: [] }
    await assert.rejects(
      harness.sendMessage(message),
      (error) => InspanError.is(error, 'invalid-input') && error.message.includes('Did you mean "files"?'),
    )
    await harness.destroy()
  })

  test('a file that is only an address is refused as well', async () => {
    const harness = new Harness(base)
    const files = [{ data: 'https://example.com/a.png', mediaType: 'image/png' }]
    await assert.rejects(
      harness.sendMessage({ content: 'Look.', files }),
      (error) => InspanError.is(error, 'invalid-input') && error.message.includes('base64, and no address'),
    )
    await harness.destroy()
  })

  test('a correct configuration is accepted', () => {
    const paint = createTool({ id: 'paint', description: 'Paints.', execute: () => 'ok' })
    const right = { ...base, subagents: [subagent], disableBuiltinTools: ['subagent', 'request_access'] } as const
    assert.ok(new Harness({ ...right, tools: { paint }, stateSchema: z.object({}) }))
    assert.ok(new Harness({ ...right, tools: [paint] }))
    assert.ok(new Harness({ ...right, tools: () => ({ paint }) }))
    assert.ok(new Harness({ ...right, threadLock: { acquire: () => undefined, release: () => undefined } }))
  })
})
