import assert from 'node:assert/strict'
import { readFile } from 'node:fs/promises'
import { describe, it, type TestContext } from 'node:test'
import type { Binding } from '@inspan/protocol/driver'
import { doctor } from '../../src/launch/doctor.ts'
import { normalize } from '../../src/launch/normalize.ts'
import { brief } from '../brief.ts'
import { diary } from '../launch/diary.ts'
import { errorOf, takeTurn, textOf, warningsOf, type PrintedTurn } from '../launch/print-turn.ts'
import { aRequest, optionOf } from '../launch/request.ts'
import { program, scratch } from '../launch/stand-in.ts'
import { ninthCli } from './cli.ts'
import { launchNinth } from './launch.ts'
import { ninthDialect } from './mapper.ts'
import { ninthProfile } from './profile.ts'

const RECORDS = [
  { type: 'hello', id: 'session-1' },
  { type: 'call', id: 'c1', tool: 'shell', input: { command: 'cat a.txt' } },
  { type: 'done', id: 'c1', exit: 0, output: 'a' },
  { type: 'call', id: 'c2', tool: 'todo', input: {} },
  { type: 'done', id: 'c2', exit: 0 },
  { type: 'from_the_future' },
  { type: 'says', id: 't1', text: 'Done.' },
]
const PRINTS = RECORDS.map((record) => `say(${JSON.stringify(record)})`).join('\n')

async function turn(t: TestContext, body: string, binding: Binding | null = null): Promise<PrintedTurn> {
  const dir = await scratch(t)
  const notes = diary()
  const driver = ninthCli.agent({ bin: await program(dir, body), cwd: dir, env: { NINTH_API_KEY: 'any' } })
  return { events: await takeTurn(driver, notes, { binding }), notes, dir }
}

describe('a ninth CLI, added as the documentation describes', () => {
  it('is shown by the documentation as it is here', async () => {
    const page = await readFile(new URL('../../../../docs/internals/adapters.md', import.meta.url), 'utf8')
    for (const file of ['tools', 'mapper', 'cli', 'profile', 'launch', 'driver']) {
      const code = await readFile(new URL(`${file}.ts`, import.meta.url), 'utf8')
      const shown = code.replace(/^(?:import .*\n)+\n/, '')
      assert.ok(
        page.includes(`// src/ninth/${file}.ts\n${shown}`),
        `docs/internals/adapters.md does not show ${file}.ts as it is`,
      )
    }
  })

  it('is mapped', async (t) => {
    const { notes, events, dir } = await turn(t, PRINTS)
    assert.deepEqual(brief(notes.activity), [`read ${dir}/a.txt`, 'unknown', 'agent: Done.'])
    assert.equal(textOf(events), 'Done.')
    assert.equal(notes.bindings.at(-1)?.nativeId, 'session-1')
  })

  it('is normalized', async () => {
    const lines = RECORDS.map((record) => JSON.stringify(record))
    const activity = await Array.fromAsync(
      normalize(lines, { dialects: [ninthDialect], harness: 'ninth', exitCode: 0 }),
    )
    assert.deepEqual(brief(activity), ['read a.txt', 'unknown', 'agent: Done.'])
  })

  it('is launched, and resumed', () => {
    const session = { kind: 'resume', nativeId: 'session-1' } as const
    assert.equal(optionOf(launchNinth(aRequest({ session })), '--resume'), 'session-1')
  })

  it('begins anew when its session is lost, fails with its own output, and can be examined', async (t) => {
    const lost = `if (process.argv.includes('--resume')) { console.error('no such session'); process.exit(1) } ${PRINTS}`
    const binding = { agentId: 'ninth', nativeId: 'gone', syncedTo: 0, extra: { settled: true } }
    assert.deepEqual(warningsOf((await turn(t, lost, binding)).notes), ['new-session'])
    const { events } = await turn(t, `console.error('out of order'); process.exit(3)`)
    assert.match(errorOf(events).message, /out of order/)
    const [row] = await doctor([ninthProfile], { PATH: '' })
    assert.equal(row?.install, 'npm install -g ninth-cli@1.0.0')
  })
})
