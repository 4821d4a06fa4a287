import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import type { JsonObject } from '@inspan/protocol'
import { AT, eventsOf, mapRun, unstamped } from '../../test/support.ts'
import { asObject, asText } from './fields.ts'
import type { Dialect, DialectReader, Run } from './mapper.ts'
import { createMapper } from './mapping.ts'
import { consumeCall, toolTable } from './tool-table.ts'

/** A dialect whose records say what to do with them. */
class Plain implements DialectReader {
  readonly #run: Run

  constructor(run: Run) {
    this.#run = run
  }

  record(record: JsonObject): void {
    const run = this.#run
    const text = asText(record['text']) ?? ''
    const place = { partId: asText(record['part']) ?? 'p' }
    switch (record['do']) {
      case 'session':
        run.session(text)
        run.consume('lifecycle')
        return
      case 'session-and-more':
        run.session(text)
        return
      case 'delta':
        run.textDelta(text, place)
        run.consume('partial')
        return
      case 'say':
        run.text(text, place)
        return
      case 'step':
        run.stepStart()
        run.consume('lifecycle')
        return
      case 'call':
        run.call({
          id: text,
          name: asText(record['tool']) ?? 'shell',
          input: asObject(record['input']) ?? {},
          raw: record,
        })
        return
      case 'result':
        run.result({ id: text, raw: record, outcome: { isSuccess: record['ok'] === true, result: 'r' } })
        return
      case 'fail':
        run.fail(text)
        return
      case 'complain':
        run.complain(text)
        return
      case 'turn':
        run.turnEnd({ finishReason: 'stop' })
        run.consume('lifecycle')
        return
      case 'throw':
        throw new Error('a bug')
    }
  }
}

const plain: Dialect = {
  id: 'plain',
  version: 3,
  open: (run) => new Plain(run),
  tools: toolTable({
    shell: (use, outcome, context) => context.command(asText(use.input['command']) ?? '', outcome),
    todo: consumeCall('bookkeeping'),
  }),
}

const call = (id: string, command: string): object => ({ do: 'call', text: id, input: { command } })

describe('any program: lines', () => {
  it('an unknown record, text and other JSON are unknown, with all of it', () => {
    const run = mapRun(plain, [{ a: 1 }, 'words', '7', '{"a":'])
    assert.deepEqual(unstamped(run.activity), [
      { type: 'unknown', raw: { a: 1 } },
      { type: 'unknown', raw: 'words' },
      { type: 'unknown', raw: 7 },
      { type: 'unknown', raw: '{"a":' },
    ])
    assert.equal(run.sums.unknown, 4)
  })

  it('blank lines are consumed, byte order marks and white space around records do not matter', () => {
    const run = mapRun(plain, [
      '',
      '  \t',
      '\ufeff{"do":"say","text":"a"}',
      ' {"do":"say","text":"b"} ',
      '{"do":"say","text":"c"}\r',
    ])
    assert.deepEqual(
      unstamped(run.activity),
      ['a', 'b', 'c'].map((message) => ({ type: 'agent', message })),
    )
    assert.deepEqual(run.sums.reasons, { blank: 2 })
  })

  it('NUL, lone surrogates and very long lines pass through', () => {
    const long = 'x'.repeat(5_000_000)
    const run = mapRun(plain, ['\u0000', '"\ud800"', { do: 'say', text: long }, long])
    assert.deepEqual(
      run.activity.map((event) => event.type),
      ['unknown', 'unknown', 'agent', 'unknown'],
    )
    assert.equal(run.sums.lines, 4)
  })

  it('maps every part of a line on which text and records are glued together', () => {
    const run = mapRun(plain, ['Yes?{"do":"say","text":"a"}{"odd":1}'])
    assert.deepEqual(unstamped(run.activity), [
      { type: 'unknown', raw: 'Yes?' },
      { type: 'agent', message: 'a' },
      { type: 'unknown', raw: { odd: 1 } },
    ])
    assert.equal(run.sums.lines, 1)
    assert.equal(run.sums.events, 1)
  })

  it('standard error becomes warnings, and the text of the error at the end', () => {
    const run = mapRun(plain, [], { stderr: ['', '\u001b[31mno key\u001b[0m'], end: { exitCode: 3 } })
    assert.deepEqual(unstamped(run.activity), [
      { type: 'warning', message: 'no key' },
      { type: 'error', message: 'plain exited with code 3: no key', code: 'exit-3' },
    ])
  })

  it('an exit code without any output is an error as well; plain output serves as its text', () => {
    assert.deepEqual(unstamped(mapRun(plain, [], { end: { exitCode: 1 } }).activity), [
      { type: 'error', message: 'plain exited with code 1', code: 'exit-1' },
    ])
    assert.deepEqual(unstamped(mapRun(plain, ['no provider'], { end: { exitCode: 1 } }).activity).at(-1), {
      type: 'error',
      message: 'plain exited with code 1: no provider',
      code: 'exit-1',
    })
    assert.deepEqual(unstamped(mapRun(plain, [], { end: { exitCode: null, signal: 'SIGSEGV' } }).activity), [
      { type: 'error', message: 'plain was killed by SIGSEGV', code: 'SIGSEGV' },
    ])
  })

  it('a flood on standard error is reported whole, and quoted only in part', () => {
    const flood = Array.from({ length: 5_000 }, (_, index) => `${index} ${'y'.repeat(300)}`)
    const run = mapRun(plain, [], { stderr: flood, end: { exitCode: 1 } })
    assert.equal(run.activity.length, 5_001)
    const last = run.activity.at(-1)
    assert.ok(last?.type === 'error' && last.message.length < 10_000 && last.message.includes('4999 '))
  })

  it('a bug in a mapping stops nothing and is counted', () => {
    const run = mapRun(plain, [{ do: 'throw' }, { do: 'say', text: 'on' }])
    assert.deepEqual(unstamped(run.activity), [
      { type: 'warning', message: 'plain mapping: a bug', code: 'mapping-fault' },
      { type: 'unknown', raw: { do: 'throw' } },
      { type: 'agent', message: 'on' },
    ])
    assert.equal(run.sums.faults, 1)
    assert.equal(run.sums.lines, run.sums.events)
  })
})

describe('any program: stamps', () => {
  it('puts time and session on activity, and the mapper on the note', () => {
    const run = mapRun(plain, [
      { do: 'say', text: 'before' },
      { do: 'session', text: 's1' },
      { do: 'say', text: 'after' },
    ])
    const timestamp = new Date(AT).toISOString()
    assert.deepEqual(run.activity, [
      { type: 'agent', message: 'before', timestamp },
      { type: 'agent', message: 'after', timestamp, sessionId: 's1' },
    ])
    const [text] = eventsOf(run, 'text-delta')
    assert.deepEqual([text?.activity?.mapper, text?.activity?.version], ['plain', 3])
  })

  it('still reports a record that changes the session and that nobody knows', () => {
    const strange = { do: 'session-and-more', text: 's2' }
    const run = mapRun(plain, [{ do: 'session', text: 's1' }, strange])
    assert.deepEqual(
      run.activity.map((event) => event.type),
      ['warning', 'unknown'],
    )
    assert.deepEqual(run.activity[1]?.type === 'unknown' && run.activity[1].raw, strange)
  })

  it('takes the session from the launcher where the program does not report it', () => {
    const run = mapRun(plain, [{ do: 'say', text: 'a' }], { sessionId: 'given' })
    assert.equal(run.activity[0]?.sessionId, 'given')
  })

  it('survives a clock that makes no sense', () => {
    const mapper = createMapper(plain, { emit: () => {} })
    for (const at of [Number.NaN, Number.POSITIVE_INFINITY, -1e300, 0]) mapper.line('x', at)
    assert.equal(mapper.ledger.sums().faults, 0)
  })
})

describe('any program: texts', () => {
  it('adds only what is missing when the whole text arrives', () => {
    const run = mapRun(plain, [
      { do: 'delta', text: 'Hel' },
      { do: 'delta', text: 'lo' },
      { do: 'say', text: 'Hello there' },
    ])
    assert.deepEqual(
      eventsOf(run, 'text-delta').map((event) => event.text),
      ['Hel', 'lo', ' there'],
    )
    assert.deepEqual(unstamped(run.activity), [{ type: 'agent', message: 'Hello there' }])
  })

  it('never withdraws what was said: another wording is another text', () => {
    const run = mapRun(plain, [
      { do: 'delta', text: 'Hallo' },
      { do: 'say', text: 'Hello' },
    ])
    assert.deepEqual(
      eventsOf(run, 'text-delta').map((event) => [event.partId, event.text, event.meta?.interrupted]),
      [
        ['p', 'Hallo', undefined],
        ['p', '', true],
        ["p'", 'Hello', undefined],
      ],
    )
    assert.deepEqual(unstamped(run.activity), [{ type: 'agent', message: 'Hello' }])
  })

  it('a partial text comes before the failure that cut it off', () => {
    const run = mapRun(plain, [
      { do: 'delta', text: 'Half' },
      { do: 'fail', text: 'Cut.' },
    ])
    assert.deepEqual(unstamped(run.activity), [
      { type: 'agent', message: 'Half' },
      { type: 'error', message: 'Cut.' },
    ])
  })

  it('a partial text ends with its step, and is kept', () => {
    const run = mapRun(plain, [
      { do: 'step' },
      { do: 'delta', text: 'Half' },
      { do: 'step' },
      { do: 'say', part: 'q', text: 'Whole' },
    ])
    assert.deepEqual(unstamped(run.activity), [
      { type: 'agent', message: 'Half' },
      { type: 'agent', message: 'Whole' },
    ])
    assert.deepEqual(
      run.events.map((event) => event.type),
      [
        'start',
        'step-start',
        'text-delta',
        'text-delta',
        'step-finish',
        'step-start',
        'text-delta',
        'step-finish',
        'finish',
      ],
    )
  })

  it('an empty text is no message', () => {
    const run = mapRun(plain, [{ do: 'say', text: ' \n' }])
    assert.deepEqual(run.activity, [])
    assert.deepEqual(run.sums.reasons, { 'empty-text': 1 })
  })
})

describe('any program: calls', () => {
  it('a line with a call waits, and is an event with its result', () => {
    const open = mapRun(plain, [call('1', 'make')], { end: null })
    assert.deepEqual([open.sums.waiting, open.sums.events], [1, 0])
    const done = mapRun(plain, [call('1', 'make'), { do: 'result', text: '1', ok: true }], { end: null })
    assert.deepEqual([done.sums.waiting, done.sums.events], [0, 2])
  })

  it('a call that is open at the end has failed, with all that it consists of', () => {
    const run = mapRun(plain, [call('1', 'make'), call('2', 'cat /a; cat /b')])
    assert.deepEqual(unstamped(run.activity), [
      { type: 'command', command: 'make', isSuccess: false },
      { type: 'read', path: '/a', isSuccess: false },
      { type: 'read', path: '/b', isSuccess: false },
    ])
    assert.equal(run.sums.waiting, 0)
  })

  it('bookkeeping is consumed, call and result', () => {
    const run = mapRun(plain, [
      { do: 'call', text: '1', tool: 'todo' },
      { do: 'result', text: '1', ok: true },
    ])
    assert.deepEqual(run.activity, [])
    assert.deepEqual(run.sums.reasons, { bookkeeping: 2 })
    assert.equal(eventsOf(run, 'tool-result').length, 1)
  })

  it('memory stays flat and ids stay unique over many calls', () => {
    const lines = Array.from({ length: 3_000 }, () => [
      call('same', 'make'),
      { do: 'result', text: 'same', ok: true },
    ]).flat()
    const run = mapRun(plain, lines)
    const ids = eventsOf(run, 'tool-call').map((event) => event.toolCallId)
    assert.equal(new Set(ids).size, ids.length)
    assert.equal(run.sums.waiting, 0)
  })
})

describe('any program: failure', () => {
  it('one failure is one error, whatever repeats it', () => {
    const run = mapRun(
      plain,
      [
        { do: 'fail', text: 'down' },
        { do: 'fail', text: 'down again' },
      ],
      {
        stderr: ['down'],
        end: { exitCode: 1 },
      },
    )
    assert.equal(eventsOf(run, 'error').length, 1)
    assert.deepEqual(unstamped(run.activity), [
      { type: 'warning', message: 'down' },
      { type: 'error', message: 'down' },
    ])
    assert.equal(run.sums.reasons['repeats-error'], 1)
    assert.equal(eventsOf(run, 'finish')[0]?.finishReason, 'error')
  })

  it('an error that ends nothing does not hide the one at the end', () => {
    const run = mapRun(plain, [{ do: 'complain', text: 'odd' }], { end: { exitCode: 1 } })
    assert.deepEqual(
      run.activity.map((event) => event.type),
      ['error', 'error'],
    )
    assert.equal(eventsOf(run, 'error').length, 1)
  })

  it('a program we stopped has not failed', () => {
    const run = mapRun(plain, [], { end: { exitCode: null, signal: 'SIGTERM', aborted: true } })
    assert.deepEqual(run.activity, [])
    assert.deepEqual(
      run.events.map((event) => event.type),
      ['start', 'finish'],
    )
    assert.equal(eventsOf(run, 'finish')[0]?.finishReason, 'other')
  })

  it('ends once', () => {
    const events: string[] = []
    const mapper = createMapper(plain, { emit: (event) => events.push(event.type) })
    mapper.end({ exitCode: 0 }, AT)
    mapper.end({ exitCode: 1 }, AT)
    assert.deepEqual(events, ['start', 'finish'])
  })

  it('a live process finishes each turn it reports, and the last one it does not', () => {
    const run = mapRun(plain, [{ do: 'say', text: 'a' }, { do: 'turn' }, { do: 'say', text: 'b' }, call('1', 'make')], {
      finish: 'at-turn-end',
      end: { exitCode: 0 },
    })
    assert.deepEqual(
      run.events.map((event) => event.type),
      ['start', 'text-delta', 'finish', 'start', 'text-delta', 'tool-call', 'tool-result', 'finish'],
    )
  })
})
