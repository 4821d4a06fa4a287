import assert from 'node:assert/strict'
import { test } from 'node:test'
import { holds, type Equal } from '../test/type-check.ts'
import { COMMAND_TYPES, type Command, type CommandType } from './command.ts'
import type { HarnessState } from './harness-state.ts'
import type { DeltaFrame } from './op.ts'
import type { ClientMessage, DeltaMessage, ServerMessage } from './wire.ts'

test('the list of commands is complete and names each once', () => {
  holds(true satisfies Equal<(typeof COMMAND_TYPES)[number], CommandType>)
  assert.equal(new Set(COMMAND_TYPES).size, COMMAND_TYPES.length)
})

test('the commands of a client that knows nothing of ids and threads are commands', () => {
  const plain = [
    { type: 'submit', prompt: 'Hello' },
    { type: 'cancel' },
    { type: 'steer', message: 'Use TypeScript instead' },
    { type: 'approve', toolCallId: 'c1' },
    { type: 'deny', toolCallId: 'c1', reason: 'no' },
    { type: 'resume', prompt: 'Go on', sessionId: 's1' },
    {
      type: 'configure',
      config: { permissionMode: 'acceptEdits', maxTurns: 3, model: 'a/b', systemPrompt: 'Be brief', effort: 'max' },
    },
    { type: 'rewind', messageId: 'm1', dryRun: true },
  ] satisfies Command[]
  const sent: ClientMessage = { type: 'commands', commands: plain }
  assert.deepEqual(
    sent.commands.map((command) => command.type),
    COMMAND_TYPES.slice(0, plain.length),
    'later commands come after them',
  )
})

test('a state of four fields is a state, and every frame is a delta', () => {
  holds(
    true satisfies {
      status: 'awaiting-approval'
      messages: []
      sessionId: string
      error: string
    } extends HarnessState
      ? true
      : false,
  )
  holds(true satisfies DeltaFrame extends DeltaMessage ? true : false)
})

test('messages are recognised by their type', () => {
  holds(true satisfies Equal<ClientMessage['type'], 'hello' | 'commands'>)
  holds(
    true satisfies Equal<
      ServerMessage['type'],
      'hello' | 'state' | 'snapshot' | 'delta' | 'error' | 'receipt' | 'ping'
    >,
  )
})
