import assert from 'node:assert/strict'
import { test } from 'node:test'
import { helpLines, readSlash, SLASH_COMMANDS } from './slash.ts'

test('a slash command is read with its argument', () => {
  assert.deepEqual(readSlash('/rename  The big one '), { type: 'command', name: 'rename', argument: 'The big one' })
  assert.deepEqual(readSlash('/NEW'), { type: 'command', name: 'new', argument: '' })
})

test('an unknown command is not sent to the agent, but the likely one is named', () => {
  assert.deepEqual(readSlash('/hlep'), { type: 'unknown', message: 'There is no command /hlep. Did you mean "/help"?' })
})

test('a path or a text with a slash inside is a message', () => {
  for (const text of ['/usr/bin is what?', 'and/or', 'hello', '// comment']) assert.equal(readSlash(text), undefined)
})

test('the help names every command', () => {
  const help = helpLines().join('\n')
  for (const { name } of SLASH_COMMANDS) assert.match(help, new RegExp(`^/${name}\\b`, 'm'))
})
