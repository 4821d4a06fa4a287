import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import type { JsonValue } from '@inspan/protocol'
import { shellActivity } from './shell-command.ts'
import type { ReportedOutcome } from './tool-table.ts'

function activity(command: string, outcome: ReportedOutcome, cwd: string | undefined = '/repo'): readonly object[] {
  return shellActivity({ command, cwd, outcome })
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
    assert.deepEqual(shellActivity({ command: 'cat a.txt', cwd: undefined, outcome: {} }), [
      { type: 'read', path: 'a.txt' },
    ])
  })

  it('does not guess which of several operations failed', () => {
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

  it('a shell command as activity that was refused or never ended has done none of its operations', () => {
    assert.deepEqual(activity('cat a.txt && ls src', { isSuccess: false, isUndone: true }), [
      { type: 'read', path: '/repo/a.txt', isSuccess: false },
      { type: 'list', path: '/repo/src', isSuccess: false },
    ])
  })

  it('has succeeded with its exit code, unless one of its programs may have failed: then that is left open', () => {
    const both = [
      { type: 'read', path: '/repo/a' },
      { type: 'read', path: '/repo/b' },
    ]
    const succeeded = both.map((read) => ({ ...read, isSuccess: true }))
    const complaint = 'cat: a: No such file or directory\nbee\n'
    const ended = (result: JsonValue): ReportedOutcome => ({ exitCode: 0, isSuccess: true, result })
    assert.deepEqual(activity('cat a; cat b', ended('ay\nbee\n')), succeeded)
    assert.deepEqual(activity('cat a; cat b', ended(complaint)), both)
    assert.deepEqual(activity('cat a\ncat b', ended([{ type: 'text', text: complaint }])), both)
    assert.deepEqual(activity('cat a || cat b', ended({ stdout: 'bee\n', stderr: complaint })), both)
    assert.deepEqual(activity('cat a | head -5', ended(complaint)), [
      { type: 'read', path: '/repo/a', startLine: 1, endLine: 5 },
    ])
    assert.deepEqual(activity('cat a 2>/dev/null; cat b', ended('bee\n')), both)
    assert.deepEqual(activity('cat a 2>/dev/null || true', ended('')), [{ type: 'read', path: '/repo/a' }])
    assert.deepEqual(activity('cat a || true', ended('ay\n')), [{ type: 'read', path: '/repo/a', isSuccess: true }])
    assert.deepEqual(activity('cat a || cat b', ended('ay\n')), both)
    // Every command in it has succeeded, whatever the files contain.
    assert.deepEqual(activity('cat a && cat b', ended(complaint)), succeeded)
    assert.deepEqual(activity('cat a 2>/dev/null && cat b', ended('')), succeeded)
    assert.deepEqual(activity('cat a', ended(complaint)), [{ type: 'read', path: '/repo/a', isSuccess: true }])
  })

  it('ran in the directory that its program reports', () => {
    const shell = { command: 'cat a.txt', cwd: '/repo', workingDirectory: '/other', outcome: {} }
    assert.deepEqual(shellActivity(shell), [{ type: 'read', path: '/other/a.txt' }])
    assert.deepEqual(shellActivity({ ...shell, command: 'make' }), [
      { type: 'command', command: 'make', workingDirectory: '/other' },
    ])
    assert.deepEqual(shellActivity({ ...shell, command: 'ls' }), [{ type: 'list', path: '/other' }])
    assert.deepEqual(shellActivity({ ...shell, command: 'rg TODO && ls src' }), [
      { type: 'search', query: 'TODO', path: '/other' },
      { type: 'list', path: '/other/src' },
    ])
  })
})
