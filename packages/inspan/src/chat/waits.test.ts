import assert from 'node:assert/strict'
import { suite, test } from 'node:test'
import { describeCall } from '@inspan/protocol/internal'
import type { PendingApproval } from '@inspan/protocol/wire'
import { typedAnswer, waitAction, waitBlocks, type WaitView } from './waits.ts'

function view(wait: Partial<PendingApproval>, fields: Partial<WaitView> = {}): WaitView {
  return {
    wait: {
      toolCallId: 'c',
      toolName: 'write_file',
      description: 'write a.txt',
      waitId: 'w',
      kind: 'approval',
      ...wait,
    },
    chosen: new Set(),
    isArmed: true,
    isAskingReason: false,
    isUnfolded: false,
    others: 0,
    ...fields,
  }
}

function textOf(shown: WaitView): string {
  return waitBlocks(shown)
    .map((block) => (block.type === 'markdown' ? block.text : block.lines.map(({ text }) => text).join('\n')))
    .join('\n')
}

suite('an approval', () => {
  test('shows exactly what is to be done, without control sequences', () => {
    const shown = textOf(view({ input: { path: 'a.txt', old_string: 'one', new_string: 'two\x1b[2J\nthree' } }))
    assert.match(shown, /^Allow write_file\?\nwrite a\.txt\n/)
    assert.match(shown, /\n {2}path: a\.txt\n {2}- one\n {2}\+ two\n {2}\+ three\ny allow once/)
  })

  test('shows the rule that asks, and each argument in a line that no value can imitate', () => {
    const input = { path: 'a\nforce: true', depth: 2 }
    const description = `${describeCall('write_file', input)} (no rule allows \`a\`)`
    const shown = textOf(view({ description, input }))
    assert.match(
      shown,
      /^Allow write_file\?\n {2}path: "a\\nforce: true"\n {2}depth: 2\nAsked because no rule allows `a`\.\ny/,
    )
  })

  test('reports how much of a long input is hidden, and shows it on demand', () => {
    const content = Array.from({ length: 100 }, () => 'x').join('\n')
    assert.match(textOf(view({ input: { content } })), /… 60 more lines, Ctrl\+O shows them/)
    assert.doesNotMatch(textOf(view({ input: { content } }, { isUnfolded: true })), /more lines/)
  })

  test('shows how a file would change that is already there, with the lines around the change', () => {
    const before = ['1', '2', '3', 'old', '5', '6', '7', '8'].join('\n')
    const shown = textOf(view({ input: { content: before.replace('old', 'new') } }, { before }))
    assert.match(shown, /\n {4}2\n {4}3\n {2}- old\n {2}\+ new\n {4}5\n {4}6\n {4}…\n/)
    assert.doesNotMatch(shown, /^ {2,4}[+-]? ?[178]$/m)
  })

  test('is answered by keys', () => {
    const shown = view({})
    const approve = { type: 'approve', toolCallId: 'c' }
    assert.deepEqual(waitAction(shown, 'y'), { type: 'send', command: approve })
    const inThread = { ...approve, remember: 'tool', scope: 'thread' }
    assert.deepEqual(waitAction(shown, 't'), { type: 'send', command: inThread })
    assert.deepEqual(waitAction(shown, 'a'), { type: 'send', command: { ...inThread, scope: 'resource' } })
    assert.deepEqual(waitAction(shown, 'n'), { type: 'send', command: { type: 'deny', toolCallId: 'c' } })
    assert.deepEqual(waitAction(shown, 'r'), { type: 'reason' })
    for (const key of ['Y', 'x', 'enter', ' ', 'yes', '\x1b']) assert.equal(waitAction(shown, key), undefined, key)
  })

  test('is not answered by keys before they are shown', () => {
    const shown = view({}, { isArmed: false })
    assert.doesNotMatch(textOf(shown), /allow once/)
    assert.equal(waitAction(shown, 'y'), undefined)
  })

  test('is denied with a reason that is typed, and any other text is no answer', () => {
    const asking = view({}, { isAskingReason: true })
    assert.equal(waitAction(asking, 'y'), undefined)
    assert.deepEqual(typedAnswer(asking, 'Not now'), { type: 'deny', toolCallId: 'c', reason: 'Not now' })
    assert.equal(typedAnswer(view({}), 'y'), undefined)
  })
})

suite('a question', () => {
  const payload = { question: 'Which?', options: ['red', { label: 'blue', description: 'cold' }] }

  test('is answered by the number of an option, or by another text', () => {
    const shown = view({ kind: 'question', payload })
    assert.match(textOf(shown), /Which\?\n {2}1 red\n {2}2 blue: cold\n/)
    assert.deepEqual(waitAction(shown, '2'), {
      type: 'send',
      command: { type: 'approve', toolCallId: 'c', answer: 'blue' },
    })
    assert.equal(waitAction(shown, '3'), undefined)
    assert.deepEqual(typedAnswer(shown, 'green'), { type: 'approve', toolCallId: 'c', answer: 'green' })
  })

  test('a question that takes several options collects them until Enter', () => {
    const asked = { kind: 'question', payload: { ...payload, multiSelect: true } } as const
    assert.equal(waitAction(view(asked), 'enter'), undefined)
    const first = waitAction(view(asked), '1')
    assert.deepEqual(first, { type: 'choose', chosen: new Set([0]) })
    const chosen = view(asked, { chosen: new Set([0, 1]) })
    assert.match(textOf(chosen), /1 \[x\] red/)
    assert.deepEqual(waitAction(chosen, 'enter'), {
      type: 'send',
      command: { type: 'approve', toolCallId: 'c', answer: ['red', 'blue'] },
    })
    assert.deepEqual(waitAction(chosen, '1'), { type: 'choose', chosen: new Set([1]) })
  })
})

test('a plan is shown as Markdown and approved or rejected', () => {
  const shown = view({ kind: 'plan', payload: { title: 'Move', plan: '1. **Pack**' } })
  assert.match(textOf(shown), /Approve this plan\? Move\n1\. \*\*Pack\*\*\ny approve/)
  assert.deepEqual(waitAction(shown, 'y'), {
    type: 'send',
    command: { type: 'approve', toolCallId: 'c', answer: { action: 'approved' } },
  })
  assert.equal(waitAction(shown, 'a'), undefined)
})
