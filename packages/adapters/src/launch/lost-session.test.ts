import assert from 'node:assert/strict'
import { readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { describe, it } from 'node:test'
import type { Host } from '@inspan/protocol/driver'
import { dialects } from '../dialects.ts'
import {
  bindingOf,
  errorOf,
  finishOf,
  printTurn,
  textOf,
  typesOf,
  warningsOf,
  type PrintedTurn,
  type PrintSetting,
} from '../../test/launch/print-turn.ts'
import { scratch, standInProfile } from '../../test/launch/stand-in.ts'
import { aMessage } from '../../test/live/live-host.ts'
import { normalize } from './normalize.ts'

const settled = bindingOf({ extra: { settled: true } })
const lostSession = /no such session/
const setting: PrintSetting = { binding: settled, spec: { lostSession } }
const isResumed = `const isResumed = process.argv.includes('resume')`
const answers = `say({ type: 'thread.started', thread_id: 'native-2' }); text(await stdin()); done(5)`
const said: PrintSetting = {
  ...setting,
  host: () => ({
    history: async function* () {
      const parts = [{ id: '0', type: 'text', text: 'Said before.' }] as const
      const native = { sessionId: 'native-1' }
      yield { id: 'm', role: 'assistant', order: 9, at: 1, state: 'done', run: 'earlier', parts, native }
    },
  }),
}

/** Reports with `print` that it cannot resume, and exits. */
const loses = (print: string): string =>
  `${isResumed}; if (isResumed) { ${print}; process.exitCode = 1 } else { ${answers} }`

function assertBeganAnew({ events, notes }: PrintedTurn): void {
  assert.deepEqual(typesOf(events), ['start', 'text-delta', 'finish'])
  assert.equal(finishOf(events), 'stop')
  assert.match(textOf(events), /^<conversation>[^]*Said before\.[^]*<\/conversation>\n\nDo it\.$/)
  assert.deepEqual(warningsOf(notes), ['new-session'])
  assert.equal(notes.processes.length, 2)
  assert.equal(notes.bindings.at(-1)?.nativeId, 'native-2')
  assert.equal(notes.bindings.at(-1)?.usageTotal?.inputTokens, 5, 'nothing was used of it before')
}

describe('a program that cannot continue its session', () => {
  it('begins a new one, and gets what was said so far', async (t) => {
    assertBeganAnew(await printTurn(t, loses(`console.error('Error: no such session native-1')`), said))
  })

  it('may report that in its output, as its only record, among empty lines', async (t) => {
    const print = `console.log(''); say({ type: 'error', message: 'no such session' }); console.error('no such session')`
    const ran = await printTurn(t, loses(print), said)
    assertBeganAnew(ran)
    const warning = ran.notes.activity.find((event) => event.type === 'warning')
    assert.match(warning?.message ?? '', /^Stand-in begins a new session, because .* \(no such session/)
  })

  it('is recorded from its new session on', async (t) => {
    const dir = join(await scratch(t), 'recording')
    const { notes } = await printTurn(t, loses(`console.error('no such session')`), {
      ...setting,
      options: { record: () => ({ dir }) },
    })
    const raw = await readFile(join(dir, 'raw.jsonl'), 'utf8')
    assert.equal(raw.match(/"stream":"stderr"/g), null)
    const lines = raw.split('\n')
    const dialect = dialects.find(({ id }) => id === 'codex')
    assert.ok(dialect)
    assert.deepEqual(await Array.fromAsync(normalize(lines, { dialects: [dialect] })), notes.activity)
  })

  it('is reported only once to have received what was said', async (t) => {
    const handovers: number[] = []
    const host = (dir: string): Partial<Host> => ({
      history: async function* (query) {
        // A message that the session would not have heard either.
        yield { ...aMessage('m2', 'Said by others.'), run: 'another' }
        yield* said.host?.(dir).history?.(query) ?? []
      },
      noteHandover: ({ messages }) => void handovers.push(messages),
    })
    const resumed = await printTurn(t, `${isResumed}; ${answers}`, { ...said, host })
    assert.equal(resumed.notes.processes.length, 1)
    assert.deepEqual(handovers.splice(0), [1])
    const { notes } = await printTurn(t, loses(`console.error('no such session')`), { ...said, host })
    assert.equal(notes.processes.length, 2)
    assert.deepEqual(handovers, [2])
  })

  it('is not even asked to where it cannot be recorded', async (t) => {
    const { events, notes } = await printTurn(t, loses(`console.error('no such session')`), {
      ...setting,
      options: { record: () => ({ dir: '/dev/null/not-a-directory' }) },
    })
    assert.match(errorOf(events).message, /not-a-directory/)
    assert.equal(notes.processes.length, 0)
  })

  it('is not tried a third time', async (t) => {
    const { events, notes } = await printTurn(t, `console.error('no such session'); process.exitCode = 1`, setting)
    assert.equal(errorOf(events).code, 'exit-1')
    assert.equal(notes.processes.length, 2)
  })

  it('is not started again when it was stopped', async (t) => {
    const body = `console.error('no such session'); process.on('SIGTERM', () => process.exit(1)); forever()`
    const { events, notes } = await printTurn(t, body, {
      binding: settled,
      spec: { lostSession, profile: standInProfile({ stop: { signal: 'SIGTERM', graceMs: 60_000 } }) },
      options: { stallMs: 300, onStall: 'abort' },
    })
    assert.equal(errorOf(events).code, 'stall')
    assert.equal(notes.processes.length, 1)
  })
})

describe('a program that continues its session', () => {
  it('a program that fails for another reason has failed, with everything it said', async (t) => {
    const { events, notes } = await printTurn(t, `console.error('no key'); process.exitCode = 1`, setting)
    assert.match(errorOf(events).message, /no key/)
    assert.equal(notes.processes.length, 1)
  })

  it('a program that reports later that there is no such session only reports that', async (t) => {
    const body = `hello(); text('I looked.'); console.error('no such session'); process.exitCode = 1`
    const { events, notes } = await printTurn(t, body, setting)
    assert.equal(errorOf(events).code, 'exit-1')
    assert.equal(notes.processes.length, 1)
    assert.equal(notes.bindings.at(-1)?.nativeId, 'native-1')
  })

  it('a program that ends well has lost nothing, whatever it said', async (t) => {
    const { events, notes } = await printTurn(t, `console.error('no such session here')`, setting)
    assert.equal(finishOf(events), 'stop')
    assert.equal(notes.processes.length, 1)
  })

  it('loses none of what it said first', async (t) => {
    const body = `
      console.error('careful')
      hello(); text('resumed'); done()`
    const { events, notes } = await printTurn(t, body, setting)
    assert.deepEqual(warningsOf(notes), ['careful'])
    assert.equal(textOf(events), 'resumed')
  })

  it('a program that stays silent is reported as silent', async (t) => {
    const body = `
      const { existsSync } = await import('node:fs')
      while (!existsSync('heard')) await new Promise((resolve) => setTimeout(resolve, 5))
      hello(); text('awake'); done()`
    const { events } = await printTurn(t, body, {
      ...setting,
      options: { stallMs: 50 },
      host: (dir) => ({ noteActivity: () => void writeFile(join(dir, 'heard'), '') }),
    })
    assert.equal(textOf(events), 'awake')
  })

  it('a program that is stopped before it has said anything was stopped', async (t) => {
    const { events } = await printTurn(t, `forever()`, { ...setting, options: { deadlineMs: 1_000 } })
    assert.equal(errorOf(events).code, 'deadline')
  })
})
