import assert from 'node:assert/strict'
import { suite, test } from 'node:test'
import fc from 'fast-check'
import { printedText } from './printed-text.ts'

suite('what a command has printed', () => {
  test('is both of its streams, each from the beginning of a line, and why it was ended', () => {
    const result = { exitCode: 1, stdout: 'one\n', stderr: 'two' }
    assert.equal(printedText(result), 'one\ntwo')
    assert.equal(printedText({ ...result, stdout: 'one' }), 'one\ntwo')
    assert.equal(printedText({ exitCode: 0, stdout: '', stderr: '' }), '')
    assert.equal(
      printedText({ exitCode: null, stdout: 'one', stderr: '', signal: 'SIGKILL' }),
      'one\nEnded by SIGKILL.',
    )
    const late = { exitCode: null, stdout: '', stderr: '', signal: 'SIGTERM', timedOut: true, timeout: 5000 }
    assert.equal(printedText(late), 'Ended after 5000 ms, because it took too long.')
    assert.equal(printedText({ processId: 'p1', status: 'running', output: 'so far' }), 'so far')
  })

  test('is nothing of what other tools return', () => {
    for (const result of [
      '{"exitCode":0}',
      'text',
      null,
      1,
      [],
      {},
      { stdout: 'x' },
      { exitCode: 0, stdout: 1, stderr: '' },
    ]) {
      assert.equal(printedText(result), undefined, JSON.stringify(result))
    }
  })

  test('is the beginning of it where only the beginning of its JSON is known, wherever that was cut', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'binary' }), fc.nat(), (stdout, at) => {
        const json = JSON.stringify({ exitCode: 0, stdout, stderr: 'never' })
        const cut = json.slice(0, '{"exitCode":0,"stdout":"'.length + (at % (JSON.stringify(stdout).length - 1)))
        const shown = printedText(cut)
        assert.ok(shown !== undefined && shown.endsWith('…'), cut)
        assert.ok(stdout.startsWith(shown.slice(0, -1)), cut)
      }),
    )
  })
})
