import assert from 'node:assert/strict'
import { readdir } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { describe, it, type TestContext } from 'node:test'
import type { AgentEvent } from '@evener/protocol'
import {
  aTurn,
  diary,
  program,
  scratch,
  standIn,
  standInProfile,
  survivors,
  takeAll,
} from '../../test/launch/stand-in.ts'
import { printDriver, type PrintHarness, type PrintOptions } from './print-driver.ts'

interface Ran {
  readonly events: readonly AgentEvent[]
  readonly notes: ReturnType<typeof diary>
  readonly last: AgentEvent | undefined
}

async function run(
  t: TestContext,
  body: string,
  options: PrintOptions = {},
  harness: Partial<PrintHarness> = {},
): Promise<Ran> {
  const dir = await scratch(t)
  const notes = diary()
  const driver = printDriver(standIn(harness), { bin: await program(dir, body), cwd: dir, ...options })
  const session = await driver.open(null, notes.host)
  const events = await takeAll(session.run(aTurn), notes)
  await session.close()
  assert.equal(events.filter(({ type }) => type === 'finish').length, 1)
  assert.equal(await survivors(notes), 0)
  return { events, notes, last: events.at(-1) }
}

describe('a turn', () => {
  it('is one process that is told its task and whose lines are events', async (t) => {
    const { events, notes } = await run(t, `hello(); text('You said: ' + await stdin()); done()`)
    assert.deepEqual(
      events.map(({ type }) => type),
      ['start', 'text-delta', 'finish'],
    )
    assert.equal(events[1]?.type === 'text-delta' && events[1].text, 'You said: Do it.')
    assert.equal(notes.processes.length, 1)
    assert.equal(notes.bindings.at(-1)?.nativeId, 'native-1')
  })
})
