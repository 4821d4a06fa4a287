import assert from 'node:assert/strict'
import { suite, test } from 'node:test'
import { prepared } from './record-body.ts'

suite('a record is shown as it is found again, also when it was given', () => {
  for (const [what, result] of [
    ['a list with nothing in its places', [undefined, 1]],
    ['a field that is not there', { a: undefined }],
    ['a zero below zero', [-0]],
    ['what is no number', { n: Number.NaN }],
    ['something with a class of its own', { at: new Date(0) }],
  ] as const) {
    test(what, () => {
      const address = { messageId: 'm', partId: '0', toolCallId: 'c', toolName: 'look' }
      const { body } = prepared({ type: 'tool-result', ...address, result: result as never })
      assert.deepEqual(body, JSON.parse(JSON.stringify(body)))
    })
  }
})
