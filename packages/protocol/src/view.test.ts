import assert from 'node:assert/strict'
import { suite, test } from 'node:test'
import * as fc from 'fast-check'
import { InspanError } from './errors.ts'
import { IdList } from './id-list.ts'
import type { StoredMessage } from './message.ts'
import type { Op } from './op.ts'
import { emptyHead } from './head.ts'
import { storedHead } from './stored-head.ts'
import { applyFrame, applyOps, emptyView, reviveMessage, shortOps, viewFrom, type ThreadView } from './view.ts'

function message(id: string, order: number): StoredMessage {
  return {
    id,
    role: 'assistant',
    order,
    at: 0,
    state: 'open',
    parts: [{ id: '0', type: 'text', text: 'Hi', state: 'open' }],
  }
}

function view(...messages: StoredMessage[]): ThreadView {
  return viewFrom({ seq: 1, head: storedHead(emptyHead('t')), messages })
}

function textOf(state: ThreadView, id: string): string | undefined {
  const part = [...state.messages].find((each) => each.id === id)?.parts.at(0)
  return part?.type === 'text' ? part.text : undefined
}

suite('ops on a view', () => {
  test('text is appended to the part it names, and the earlier view keeps its text', () => {
    const before = view(message('a', 1))
    const after = applyOps(before, [{ type: 'append-text', path: ['messages', 'a', 'parts', '0', 'text'], value: '!' }])
    assert.equal(textOf(after, 'a'), 'Hi!')
    assert.equal(textOf(before, 'a'), 'Hi')
  })

  test('an op for a message outside the window is skipped', () => {
    const before = view(message('a', 1))
    assert.equal(applyOps(before, [{ type: 'set', path: ['messages', 'old', 'state'], value: 'done' }]), before)
  })

  test('a message is put where its order puts it', () => {
    const after = applyOps(view(message('a', 1), message('c', 5)), [
      { type: 'set', path: ['messages', 'b'], value: JSON.parse(JSON.stringify(message('b', 3))) },
    ])
    assert.deepEqual(
      [...after.messages].map((each) => each.id),
      ['a', 'b', 'c'],
    )
  })

  test('a message takes the place of an earlier state of it, also among others of its order', () => {
    const before = view(message('a', 1), message('b', 3), message('c', 3), message('d', 5))
    const changed = { ...message('c', 3), state: 'done' }
    const after = applyOps(before, [
      { type: 'set', path: ['messages', 'c'], value: JSON.parse(JSON.stringify(changed)) },
    ])
    assert.deepEqual(
      [...after.messages].map((each) => [each.id, each.state]),
      [
        ['a', 'open'],
        ['b', 'open'],
        ['c', 'done'],
        ['d', 'open'],
      ],
    )
  })

  test('a message is placed without looking at all the others', () => {
    let looks = 0
    const watched = Array.from({ length: 10_000 }, (_, index) => {
      const each = reviveMessage(message(`m${index}`, index * 2))
      return new Proxy(each, { get: (target, key) => (looks++, Reflect.get(target, key)) as unknown })
    })
    const before: ThreadView = { ...view(), messages: IdList.from(watched) }
    for (const [id, order, most] of [
      ['new', 20_000, 10],
      ['between', 9001, 100],
      ['m17', 34, 100],
    ] as const) {
      looks = 0
      const value = JSON.parse(JSON.stringify(message(id, order)))
      const after = applyOps(before, [{ type: 'set', path: ['messages', id], value }])
      assert.ok(looks <= most, `${id}: ${looks}`)
      assert.equal(after.messages.length, id === 'm17' ? 10_000 : 10_001)
    }
  })

  test('a range removes the messages that began in it', () => {
    const after = applyOps(view(message('a', 1), message('b', 4), message('c', 9)), [
      { type: 'remove', path: ['messages'], from: 2, to: 8 },
    ])
    assert.deepEqual(
      [...after.messages].map((each) => each.id),
      ['a', 'c'],
    )
  })

  test('a frame that the view already holds changes nothing', () => {
    const before = view(message('a', 1))
    assert.equal(
      applyFrame(before, { type: 'delta', seq: 1, operations: [{ type: 'remove', path: ['messages'] }] }),
      before,
    )
  })

  test('fields of a newer server are ignored', () => {
    const before = view(message('a', 1))
    assert.deepEqual(applyOps(before, [{ type: 'set', path: ['weather'], value: 'fine' }]), before)
  })
})

suite('hostile ops', () => {
  const forbidden: Op[] = [
    { type: 'set', path: ['head', '__proto__', 'polluted'], value: true },
    { type: 'set', path: ['head', 'settings', 'constructor', 'prototype', 'polluted'], value: true },
    { type: 'set', path: ['messages', '__proto__'], value: {} },
    { type: 'append-text', path: ['messages', 'a', 'parts', '__proto__', 'text'], value: 'x' },
    { type: 'remove', path: ['__proto__'] },
  ]
  for (const op of forbidden) {
    test(`${op.type} at ${op.path.join('/')} is refused and pollutes nothing`, () => {
      assert.throws(
        () => applyOps(view(message('a', 1)), [op]),
        (error) => InspanError.is(error, 'invalid-input'),
      )
      assert.equal(({} as { polluted?: unknown }).polluted, undefined)
    })
  }

  const impossible: [string, Op][] = [
    ['append to something that is no text', { type: 'append-text', path: ['head', 'yolo'], value: 'x' }],
    ['append to a missing part', { type: 'append-text', path: ['messages', 'a', 'parts', '7', 'text'], value: 'x' }],
    ['a part far beyond the end', { type: 'set', path: ['messages', 'a', 'parts', '999999999'], value: {} }],
    ['a part id that is no number', { type: 'set', path: ['messages', 'a', 'parts', '01'], value: {} }],
    ['a place below a text', { type: 'set', path: ['head', 'stream', 'x'], value: 1 }],
  ]
  for (const [what, op] of impossible) {
    test(`${what} is an error that asks for a new snapshot`, () => {
      assert.throws(() => applyOps(view(message('a', 1)), [op]), /read a new snapshot/)
    })
  }

  test('no op whatever changes an object it was not given', () => {
    const segment = fc.constantFrom(
      'head',
      'messages',
      'a',
      'parts',
      '0',
      'text',
      'settings',
      '__proto__',
      'constructor',
      'x',
    )
    const op: fc.Arbitrary<Op> = fc.oneof(
      fc.record({
        type: fc.constant('set' as const),
        path: fc.array(segment, { maxLength: 6 }),
        value: fc.constant('v'),
      }),
      fc.record({
        type: fc.constant('append-text' as const),
        path: fc.array(segment, { maxLength: 6 }),
        value: fc.string(),
      }),
      fc.record({ type: fc.constant('remove' as const), path: fc.array(segment, { maxLength: 6 }) }),
    )
    fc.assert(
      fc.property(fc.array(op, { maxLength: 5 }), (ops) => {
        const before = view(message('a', 1))
        const text = JSON.stringify(before)
        try {
          applyOps(before, ops)
        } catch (error) {
          assert.ok(InspanError.is(error, 'invalid-input'), String(error))
        }
        assert.equal(JSON.stringify(before), text)
        assert.equal(Object.keys(Object.prototype).length, 0)
      }),
      { numRuns: 2000 },
    )
  })
})

test('an append without a path continues the last text of the newest message, in every replica', () => {
  const said = (id: string, order: number, text: string): StoredMessage => ({
    id,
    order,
    role: 'assistant',
    at: 0,
    state: 'open',
    parts: [
      { id: '0', type: 'text', text: 'First.' },
      { id: '1', type: 'text', text },
    ],
  })
  const head = storedHead(emptyHead('t'))
  const whole = viewFrom({ seq: 5, head, messages: [said('a', 1, 'x'), said('b', 2, 'y')] })
  const newest = viewFrom({ seq: 5, head, messages: [said('b', 2, 'y')] })
  const full: Op = { type: 'append-text', path: ['messages', 'b', 'parts', '1', 'text'], value: 'z' }
  const short = shortOps([full], whole)
  assert.deepEqual(short, [{ type: 'append-text', path: [], value: 'z' }])
  for (const each of [whole, newest]) {
    assert.deepEqual(applyOps(each, short).messages.get('b'), applyOps(each, [full]).messages.get('b'))
  }
  const elsewhere: Op = { ...full, path: ['messages', 'a', 'parts', '1', 'text'] }
  assert.deepEqual(shortOps([elsewhere], whole), [elsewhere])
  assert.deepEqual(shortOps([full, full], whole), [full, full], 'only one at a time')
  assert.equal(applyOps(emptyView('t'), short).messages.length, 0, 'nothing to continue')
})
