import assert from 'node:assert/strict'
import { describe, it, type TestContext } from 'node:test'
import type { AgentDriver } from '@inspan/protocol/driver'
import { brief } from '../../test/brief.ts'
import { aTurn, diary, type Diary } from '../../test/launch/diary.ts'
import { errorOf, finishOf, takeTurn, textOf, typesOf, warningsOf } from '../../test/launch/print-turn.ts'
import { program, scratch, survivors } from '../../test/launch/stand-in.ts'
import { antigravity, type AntigravityOptions } from './driver.ts'

interface Stage {
  readonly driver: AgentDriver
  readonly notes: Diary
  readonly dir: string
}

/** A program that prints plain text, in a home without a login. */
async function stage(t: TestContext, body: string, options: AntigravityOptions = {}): Promise<Stage> {
  const dir = await scratch(t)
  const bin = await program(dir, `const print = (words) => console.log(words)\n${body}`, 'agy')
  return { driver: antigravity({ bin, cwd: dir, env: { HOME: dir }, ...options }), notes: diary(), dir }
}

const lines = `print('The answer'); print(''); print('is 42.')`

describe('a turn of Antigravity', () => {
  it('reports what the program prints, as one text', async (t) => {
    const { driver, notes } = await stage(t, `print('You said: ' + process.argv.at(-1)); ${lines}`)
    const events = await takeTurn(driver, notes)
    assert.equal(textOf(events), 'You said: Do it.\nThe answer\n\nis 42.')
    assert.equal(finishOf(events), 'stop')
    assert.deepEqual(new Set(typesOf(events)), new Set(['start', 'text-delta', 'finish']))
    assert.equal(new Set(events.flatMap((event) => (event.type === 'text-delta' ? [event.partId] : []))).size, 1)
  })

  it('treats JSON as text: its meaning is not documented', async (t) => {
    const { driver, notes } = await stage(t, `say({ type: 'error', message: 'not ours' })`)
    const events = await takeTurn(driver, notes)
    assert.equal(textOf(events), '{"type":"error","message":"not ours"}')
    assert.equal(finishOf(events), 'stop')
  })

  it('warns of what it writes to standard error', async (t) => {
    const { driver, notes } = await stage(t, `console.error('Warning: slow network'); ${lines}`)
    const events = await takeTurn(driver, notes)
    assert.equal(finishOf(events), 'stop')
    assert.ok(brief(notes.activity).some((line) => line.includes('slow network')))
  })

  it('fails with its last output when it exits with a code', async (t) => {
    const { driver, notes } = await stage(
      t,
      `print('Half an answer'); console.error('Error: quota exceeded'); process.exitCode = 2`,
    )
    const events = await takeTurn(driver, notes)
    assert.match(errorOf(events).message, /quota exceeded/)
    assert.equal(finishOf(events), 'error')
    assert.equal(textOf(events), 'Half an answer')
  })

  it('explains how to log in when it fails and nobody has', async (t) => {
    const { driver, notes } = await stage(t, `console.error('not signed in'); process.exitCode = 1`)
    assert.match(
      errorOf(await takeTurn(driver, notes)).message,
      /not signed in.*No key for Antigravity was found\. Run "agy"/s,
    )
  })

  it('can be stopped in the middle of a tool, and nothing is left', async (t) => {
    const body = `
      spawn('/bin/sh', ['-c', 'setsid sleep 1000 & exec sleep 1000'], { stdio: 'ignore' })
      print('Working on it'); forever()`
    const { driver, notes } = await stage(t, body)
    const session = await driver.open(null, notes.host)
    const types: string[] = []
    let receipt: ReturnType<typeof session.cancel> | undefined
    for await (const event of session.run(aTurn)) {
      types.push(event.type)
      if (event.type === 'text-delta') receipt ??= session.cancel()
    }
    assert.notEqual((await receipt)?.how, 'gone')
    assert.equal(await survivors(notes), 0)
    assert.ok(!types.includes('error'))
    await session.close()
  })

  it('begins a new conversation every time, and is given what was said before', async (t) => {
    const { driver, notes } = await stage(t, lines)
    const binding = { agentId: 'antigravity', nativeId: 'any', syncedTo: 1 }
    await takeTurn(driver, notes, { binding })
    assert.ok(warningsOf(notes).includes('new-session'))
    assert.equal((await driver.describe()).resume, 'none')
  })

  it('reports that its version was never tested', async (t) => {
    const { driver, notes } = await stage(t, lines)
    await takeTurn(driver, notes)
    assert.deepEqual(warningsOf(notes), ['untested-version'])
  })
})
