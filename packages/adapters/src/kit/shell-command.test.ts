import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { defaultClassify } from './classify.ts'
import { memoized, shellActivity, type Classify } from './shell-command.ts'
import type { ToolOutcome } from './tool-table.ts'

function activity(command: string, outcome: ToolOutcome, cwd: string | undefined = '/repo'): readonly object[] {
  return shellActivity({ command, cwd, outcome }, defaultClassify())
}

describe('a shell command as activity', () => {
  it('is a command with what is known of its end', () => {
    assert.deepEqual(activity('npm test', {}), [{ type: 'command', command: 'npm test' }])
    assert.deepEqual(activity('npm test', { exitCode: 3, isSuccess: false }), [
      { type: 'command', command: 'npm test', exitCode: 3, isSuccess: false },
    ])
  })

  it('is the file operations it consists of, with absolute paths where they can be determined', () => {
    assert.deepEqual(activity('cat a.txt && ls src', { isSuccess: true }), [
      { type: 'read', path: '/repo/a.txt', isSuccess: true },
      { type: 'list', path: '/repo/src', isSuccess: true },
    ])
    assert.deepEqual(shellActivity({ command: 'cat a.txt', cwd: undefined, outcome: {} }, defaultClassify()), [
      { type: 'read', path: 'a.txt' },
    ])
  })

  it('does not say which of several operations failed', () => {
    assert.deepEqual(activity('cat a.txt b.txt', { exitCode: 1, isSuccess: false }), [
      { type: 'read', path: '/repo/a.txt' },
      { type: 'read', path: '/repo/b.txt' },
    ])
    assert.deepEqual(activity('cat a.txt b.txt', { isSuccess: false }), [
      { type: 'read', path: '/repo/a.txt' },
      { type: 'read', path: '/repo/b.txt' },
    ])
    assert.deepEqual(activity('cat a.txt', { isSuccess: false }), [
      { type: 'read', path: '/repo/a.txt', isSuccess: false },
    ])
  })

  it('was run where its program says it was', () => {
    const shell = { command: 'cat a.txt', cwd: '/repo', workingDirectory: '/other', outcome: {} }
    assert.deepEqual(shellActivity(shell, defaultClassify()), [{ type: 'read', path: '/other/a.txt' }])
    assert.deepEqual(shellActivity({ ...shell, command: 'make' }, defaultClassify()), [
      { type: 'command', command: 'make', workingDirectory: '/other' },
    ])
  })
})

describe('remembering commands', () => {
  it('reads the same command once, and again where it ran elsewhere or ended otherwise', () => {
    const seen: string[] = []
    const counting: Classify = (command, options) => {
      seen.push(`${command} ${options.cwd ?? ''} ${options.exitCode ?? ''}`)
      return null
    }
    const classify = memoized(counting)
    for (const exitCode of [0, 0, 1]) classify('a', { cwd: '/x', exitCode })
    classify('a', { cwd: '/y', exitCode: 0 })
    assert.deepEqual(seen, ['a /x 0', 'a /x 1', 'a /y 0'])
  })

  it('forgets, so that a long run does not fill the memory', () => {
    let read = 0
    const classify = memoized(() => {
      read += 1
      return null
    })
    for (let index = 0; index < 10_000; index += 1) classify(`command ${index}`, {})
    classify('command 0', {})
    assert.equal(read, 10_001)
  })
})
