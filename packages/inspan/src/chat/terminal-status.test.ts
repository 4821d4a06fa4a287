import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { ClientState } from '@inspan/client'
import { emptyHead } from '@inspan/protocol/log'
import { copySequence, StatusReporter } from './terminal-status.ts'

function state(fields: Partial<ClientState>): ClientState {
  const head = emptyHead('t')
  return { thread: 't', head, status: 'idle', messages: [], connection: 'open', pending: [], refused: [], ...fields }
}

const WAIT = { toolCallId: 'c', toolName: 'x', description: 'x', waitId: 'w' } as const

test('a terminal that does not answer gets nothing', () => {
  const written: string[] = []
  const reporter = new StatusReporter((data) => written.push(data))
  reporter.ask()
  reporter.update(state({ status: 'running' }))
  reporter.end()
  assert.deepEqual(written, ['\x1b]7501;?\x07'])
})

test('a terminal that answers gets every change once', () => {
  const written: string[] = []
  const reporter = new StatusReporter((data) => written.push(data))
  assert.equal(reporter.read('x'), false)
  assert.equal(reporter.read('\x1b]7501;1\x1b\\'), true)
  reporter.update(state({ status: 'running' }))
  reporter.update(state({ status: 'running' }))
  reporter.update(state({ status: 'awaiting-approval', pendingApprovals: [{ ...WAIT, kind: 'approval' }] }))
  reporter.update(state({ status: 'awaiting-approval', pendingApprovals: [{ ...WAIT, kind: 'question' }] }))
  reporter.update(state({}))
  reporter.update(state({ status: 'error', error: 'no' }))
  reporter.end()
  assert.deepEqual(
    written.map((each) => each.slice(7, -1)),
    ['idle', 'working', 'blocked;permission', 'blocked;question', 'done', 'error', 'idle'],
  )
})

test('copied text cannot break out of its escape sequence', () => {
  const sequence = copySequence('a\x07b\x1b]0;title\x07')
  assert.equal(sequence.slice(0, 7), '\x1b]52;c;')
  assert.match(sequence.slice(7, -1), /^[A-Za-z0-9+/=]+$/)
  assert.equal(sequence.at(-1), '\x07')
  assert.equal(Buffer.from(sequence.slice(7, -1), 'base64').toString(), 'a\x07b\x1b]0;title\x07')
})
