import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { dialects, liveDialects } from '../dialects.ts'
import { gooseDialect } from '../goose/mapper.ts'
import { canonicalCall } from '../live/tool-calls.ts'
import type { MappedEvent } from './activity.ts'
import { Calls } from './calls.ts'
import { cleanText } from './clean-text.ts'
import { splitLine } from './json-line.ts'
import type { Dialect } from './mapper.ts'
import { createMapper } from './mapping.ts'

/** Each of these took minutes or gigabytes when the work grew with the square of the input. */
const LONG = { timeout: 20_000 }

function mapped(dialect: Dialect, lines: readonly string[]): readonly MappedEvent[] {
  const events: MappedEvent[] = []
  const mapper = createMapper(dialect, { emit: (event) => void events.push(event) })
  for (const line of lines) mapper.line(line, 0)
  mapper.end({ exitCode: 0 }, 0)
  return events
}

describe('a long input costs in proportion to its length:', () => {
  it('text full of escapes', LONG, () => {
    assert.equal(cleanText('\u009b'.repeat(3_000_000)), '')
    assert.equal(cleanText('\u001b[31mx\u001b[0m'.repeat(300_000)), 'x'.repeat(300_000))
  })

  it('a line with records and beginnings of records', LONG, () => {
    const parts = splitLine('{"{"a":1}'.repeat(100_000))
    assert.ok(parts.length > 0)
    assert.ok(splitLine(`x${'{"a":1}'.repeat(100_000)}`).length === 100_001)
  })

  it('a message of Goose that comes letter by letter', LONG, () => {
    const record = (text: string): string =>
      JSON.stringify({ type: 'message', message: { id: 'm', role: 'assistant', content: [{ type: 'text', text }] } })
    const letters = Array.from({ length: 250_000 }, (_, at) => String.fromCodePoint(97 + (at % 26)))
    const said = mapped(gooseDialect, letters.map(record)).flatMap((event) =>
      event.type === 'text-delta' ? [event.text] : [],
    )
    assert.equal(said.join(''), letters.join(''))
  })
})

describe('what a CLI cannot mean', () => {
  it('a name that every object has, such as `constructor`, is no kind of tool', () => {
    for (const name of ['constructor', 'toString', '__proto__']) {
      const { toolName, category } = canonicalCall({ toolCallId: 'c', toolName: name, input: {} })
      assert.deepEqual([toolName, category], [name, 'other'])
    }
    for (const dialect of liveDialects) {
      const update = {
        sessionUpdate: 'tool_call',
        toolCallId: 'c',
        title: 't',
        kind: 'constructor',
        status: 'completed',
      }
      const line = JSON.stringify({ jsonrpc: '2.0', method: 'session/update', params: { sessionId: 's', update } })
      for (const event of mapped(dialect, [line]))
        if (event.type === 'tool-call') assert.equal(typeof event.toolName, 'string')
    }
  })

  it('a value that is too deep to be written again is kept as text', () => {
    const depth = 5_000
    const deep = `{"type":"result","x":${'['.repeat(depth)}${']'.repeat(depth)}}`
    for (const dialect of [...dialects, ...liveDialects]) {
      const events = mapped(dialect, [deep])
      assert.doesNotThrow(() => JSON.stringify(events), dialect.id)
    }
  })
})

describe('the ids of calls on our events', () => {
  const slot = { end: () => undefined } as never
  const call = (id: string): Parameters<Calls['open']>[0] => ({ id, name: 'n', input: {}, raw: null })

  it('differ if an id is used again while its first call is open', () => {
    const calls = new Calls()
    const first = calls.open(call('5'), slot)
    const second = calls.pass(call('5'), slot)
    calls.take('5', undefined)
    const third = calls.open(call('5'), slot)
    assert.equal(new Set([first.callId, second.callId, third.callId]).size, 3)
  })

  it('differ from ids of the CLI that look like ours', () => {
    const calls = new Calls()
    calls.pass(call('5'), slot)
    const again = calls.pass(call('5'), slot)
    const alike = calls.pass(call(again.callId), slot)
    assert.notEqual(alike.callId, again.callId)
  })
})
