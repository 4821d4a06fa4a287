import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { brief } from '../../test/brief.ts'
import { eventsOf, fixtureNames, mapFixture, mapRun, unstamped, type RunOptions } from '../../test/support.ts'
import { antigravityDialect } from './mapper.ts'

function map(lines: readonly string[], options?: RunOptions): readonly object[] {
  return unstamped(mapRun(antigravityDialect, lines, options).activity)
}

const unknown = (raw: unknown): object => ({ type: 'unknown', raw })

describe('Antigravity: plain output', () => {
  it('is unknown, line by line, and in the chat it is the answer', () => {
    const run = mapRun(antigravityDialect, ['I did it.', '  - part one'])
    assert.deepEqual(unstamped(run.activity), [unknown('I did it.'), unknown('  - part one')])
    assert.deepEqual(
      eventsOf(run, 'text-delta').map(({ text, partId, meta }) => [text, partId, meta?.['end']]),
      [
        ['I did it.', 'print', undefined],
        ['\n  - part one', 'print', undefined],
        ['', 'print', true],
      ],
    )
  })

  it('plain output that happens to be JSON is unknown as well, with all of it', () => {
    assert.deepEqual(map(['{"type":"message","a":1}', '[1]', '"x"']), [
      unknown({ type: 'message', a: 1 }),
      unknown([1]),
      unknown('x'),
    ])
  })

  it('plain output that happens to be JSON is part of the answer', () => {
    const run = mapRun(antigravityDialect, ['Error: one', '{"a":1}'], { end: { exitCode: 1 } })
    assert.equal(eventsOf(run, 'text-delta')[0]?.text, '{"a":1}')
    assert.deepEqual(unstamped(run.activity).slice(0, 2), [{ type: 'error', message: 'one' }, unknown({ a: 1 })])
  })

  it('diagnostics are recognised by how they begin', () => {
    for (const line of [
      'warning: old',
      'Warning: old',
      'WARN: old',
      '[warn] old',
      '[WARNING]: old',
      '\u001b[33mwarning:\u001b[0m old',
    ])
      assert.deepEqual(map([line]), [{ type: 'warning', message: 'old' }])
    for (const line of ['error: broken', 'Error: broken', '[ERROR] broken', 'FATAL: broken', 'panic: broken'])
      assert.deepEqual(map([line]), [{ type: 'error', message: 'broken' }])
  })

  it('sentences about errors are sentences', () => {
    for (const line of ['Errors are handled.', 'error handling', 'The error: x', 'warn people', 'error:', 'fatal'])
      assert.deepEqual(map([line]), [unknown(line)])
  })

  it('keeps every character in what nobody knows', () => {
    assert.deepEqual(map(['\u001b[1mbold\u001b[0m\u0000']), [unknown('\u001b[1mbold\u001b[0m\u0000')])
  })
})

describe('Antigravity: the end', () => {
  it('an error that ends the run is its one error', () => {
    const run = mapRun(antigravityDialect, ['Error: not signed in'], { end: { exitCode: 1 } })
    assert.deepEqual(unstamped(run.activity), [{ type: 'error', message: 'not signed in' }])
    assert.equal(eventsOf(run, 'error').length, 1)
    assert.equal(eventsOf(run, 'finish')[0]?.finishReason, 'error')
  })

  it('standard error becomes warnings, whatever it contains, and a bad exit becomes one error with all of it', () => {
    const stderr = ['Error: not signed in', '  log in first']
    const warnings = stderr.map((message) => ({ type: 'warning', message }))
    assert.deepEqual(map([], { stderr }), warnings)
    assert.deepEqual(map([], { stderr, end: { exitCode: 1 } }), [
      ...warnings,
      {
        type: 'error',
        message: 'antigravity exited with code 1: Error: not signed in\n  log in first',
        code: 'exit-1',
      },
    ])
  })

  it('an error after which it continues, or ends well, ends nothing', () => {
    const run = mapRun(antigravityDialect, ['Error: one', 'Still here.', 'Error: two'])
    assert.deepEqual(unstamped(run.activity), [
      { type: 'error', message: 'one' },
      unknown('Still here.'),
      { type: 'error', message: 'two' },
    ])
    assert.equal(eventsOf(run, 'error').length, 0)
  })

  it('a bad exit without a diagnostic has the last output as its message', () => {
    assert.deepEqual(map(['Something odd.'], { end: { exitCode: 2 } }), [
      unknown('Something odd.'),
      { type: 'error', message: 'antigravity exited with code 2: Something odd.', code: 'exit-2' },
    ])
    assert.deepEqual(map([], { stderr: ['no network'], end: { exitCode: null, signal: 'SIGKILL' } }), [
      { type: 'warning', message: 'no network' },
      { type: 'error', message: 'antigravity was killed by SIGKILL: no network', code: 'SIGKILL' },
    ])
  })

  it('a run that we stopped has not failed', () => {
    assert.deepEqual(map(['Half'], { end: { exitCode: 130, aborted: true } }), [unknown('Half')])
    const run = mapRun(antigravityDialect, ['Error: interrupted'], { end: { exitCode: 130, aborted: true } })
    assert.deepEqual(unstamped(run.activity), [{ type: 'error', message: 'interrupted' }])
    assert.equal(eventsOf(run, 'error').length, 0)
    assert.equal(eventsOf(run, 'text-delta').length, 0)
  })

  it('its session comes from the launcher', () => {
    const run = mapRun(antigravityDialect, ['{"session_id":"x"}'], { sessionId: 's1' })
    assert.equal(run.activity[0]?.sessionId, 's1')
  })
})

describe('Antigravity: hand-made runs', () => {
  const RUNS: Readonly<Record<string, readonly string[]>> = {
    'handmade-plain-answer': ['unknown', 'unknown', 'unknown', 'unknown'],
    'handmade-diagnostics': [
      'warning: Loaded cached credentials.',
      'warning: a new version is available',
      'warning: The index is out of date.',
      'warning: using the default model',
      'error: could not read settings, going on',
      'unknown',
      'unknown',
      'unknown',
    ],
    'handmade-not-signed-in': [
      'warning: Opening the browser.',
      'warning: Error: You are not signed in.',
      'unknown',
      'error [exit-1]: antigravity exited with code 1: Opening the browser.\nError: You are not signed in.',
    ],
  }

  for (const [name, expected] of Object.entries(RUNS)) {
    it(name, () => {
      assert.deepEqual(brief(mapFixture(antigravityDialect, name).activity), expected)
    })
  }

  it('all of them are described', () => {
    assert.deepEqual(fixtureNames(antigravityDialect.id), Object.keys(RUNS).toSorted())
  })
})
