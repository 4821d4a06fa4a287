import assert from 'node:assert/strict'
import { suite, test } from 'node:test'
import type { Part, ThreadMessage } from '@inspan/protocol'
import { toHarnessMessage } from '@inspan/protocol/harness'
import { List } from '@inspan/protocol/internal'
import { GrowingMessage } from './growing-message.ts'

const thought: Part = { id: '0', type: 'reasoning', text: 'Hm.' }
const call: Part = {
  id: '1',
  type: 'tool-call',
  toolCallId: 'c1',
  toolName: 'remove',
  args: { paths: ['a'] },
  call: { stage: 'ordered' },
}

function growing(id: string, text: string): Part {
  return { id, type: 'text', text, state: 'open' }
}

function message(parts: readonly Part[], id = 'm1'): ThreadMessage {
  return { id, role: 'assistant', order: 1, at: 1_000, state: 'open', parts: List.from(parts) }
}

suite('the public form of a message that grows', () => {
  const stages: readonly (readonly Part[])[] = [
    [],
    [growing('0', 'H')],
    [growing('0', 'Hm.')],
    [thought],
    [thought, { ...call, inputText: '{"pa' }],
    [thought, call],
    [thought, call, growing('2', '')],
    [thought, { ...call, call: { stage: 'ended', outcome: 'ok' } }, growing('2', 'Do')],
    [{ ...thought, text: '[withheld]' }, call, growing('2', 'Done.')],
    [growing('0', 'An'), call, growing('2', 'Done.')],
  ]

  for (const isShared of [false, true]) {
    test(`is the same as if it were made from nothing, for ${isShared ? 'several' : 'one'} to hear`, () => {
      const shown = new GrowingMessage()
      for (const parts of [...stages, ...stages.toReversed()]) {
        assert.deepEqual(shown.next(message(parts), isShared), toHarnessMessage(message(parts)))
        assert.deepEqual(shown.next(message(parts, 'm2'), isShared), toHarnessMessage(message(parts, 'm2')))
      }
    })
  }

  test('has the pieces of what is whole in common with its earlier forms, and nobody can change them', () => {
    const shown = new GrowingMessage()
    const before = shown.next(message([thought, call, growing('2', 'Do')]), false).content
    const after = shown.next(message([thought, call, growing('2', 'Done.')]), false).content
    assert.equal(after[0], before[0])
    assert.equal(after[1], before[1])
    assert.ok(!Reflect.set(after[0] as object, 'thinking', 'Lies.'))
    const made = after[1]
    assert.ok(made?.type === 'tool_call')
    assert.throws(() => (made.args as { paths: string[] }).paths.push('b'), TypeError)
  })

  test('leaves its earlier forms the list and the piece that they had', () => {
    const shown = new GrowingMessage()
    const before = shown.next(message([thought, growing('1', 'Do')]), false).content
    const after = shown.next(message([thought, growing('1', 'Done.')]), false).content
    Reflect.set(after[1] as object, 'text', 'Lies.')
    Reflect.set(after, 'length', 0)
    const { content } = shown.next(message([thought, growing('1', 'Done.')]), false)
    assert.deepEqual(before[1], { type: 'text', text: 'Do' })
    assert.deepEqual(content[1], { type: 'text', text: 'Done.' })
  })

  test('cannot be changed by one of several that receive it', () => {
    const { content } = new GrowingMessage().next(message([thought, growing('1', 'Do')]), true)
    assert.ok(!Reflect.set(content, 'length', 0))
    assert.ok(!Reflect.set(content[1] as object, 'text', 'Lies.'))
    const one = new GrowingMessage().next(message([growing('0', 'Do')]), true).content
    assert.ok(!Reflect.set(one[0] as object, 'text', 'Lies.') && !Reflect.set(one, 'length', 0))
  })
})
