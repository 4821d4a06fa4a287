import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { suite, test } from 'node:test'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'

const CHILD = fileURLToPath(new URL('troubled-writes-child.fixture.ts', import.meta.url))

const MODES = {
  late: 'whoever comes while a write is under way: nothing is lost, twice or without an end',
  'late for a program': 'the same where a program takes the turns, which may come in between as well',
  fails: 'a write that finds no place: all are told, what was accepted is kept, and the thread can be opened again',
  'taken over': 'another process takes the thread before a write, which is refused, or before its receipt',
}

suite('every write of short threads meets everybody', { concurrency: 2 }, () => {
  for (const [mode, title] of Object.entries(MODES)) {
    test(title, async (t) => {
      // A child that never ends is ended with its test.
      const { stdout } = await promisify(execFile)(process.execPath, [CHILD, mode], { signal: t.signal })
      t.diagnostic(stdout.trim())
      assert.match(stdout, /^[1-9][0-9]* points$/m)
    })
  }
})
