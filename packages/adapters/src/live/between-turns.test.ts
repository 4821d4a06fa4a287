import assert from 'node:assert/strict'
import { existsSync } from 'node:fs'
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { describe, it } from 'node:test'
import { setTimeout as pause } from 'node:timers/promises'
import { aTurn } from '../../test/launch/diary.ts'
import { scratch } from '../../test/launch/stand-in.ts'
import { liveHost, take } from '../../test/live/live-host.ts'
import { standInProgram } from '../../test/live/stand-in-program.ts'
import { codexLive } from '../codex/app-server/driver.ts'

const LINES = 2_000
/** Exceeds what is kept by more than a pipe holds, so that too much was read by the time everything is written. */
const BODY = `
  if (t.prompt !== 'one') return
  const { existsSync, writeFileSync } = await import('node:fs')
  const waiting = setInterval(() => {
    if (!existsSync('go')) return
    clearInterval(waiting)
    for (let n = 0; n < ${LINES}; n++) t.raw('x'.repeat(10_000) + '\\n')
    process.stdout.write('', () => writeFileSync('said', ''))
  }, 10)`

describe('what a program prints between turns', () => {
  it('is reported at the beginning of the next one, with the number of further lines', async (t) => {
    const dir = await scratch(t)
    const host = liveHost()
    const bin = await standInProgram(dir, 'codex', BODY)
    const session = await codexLive({ bin, cwd: dir, env: { CODEX_API_KEY: 'any' } }).open(null, host.host)
    t.after(() => session.close())
    const turn = (text: string): Promise<unknown> =>
      take(session.run({ ...aTurn, runId: text, input: [{ id: '0', type: 'text', text }] }), host).all
    await turn('one')
    await writeFile(join(dir, 'go'), '')
    while (!existsSync(join(dir, 'said'))) await pause(10)
    await turn('two')
    const heard = host.activity.filter((event) => event.type === 'unknown').length
    const warnings = host.activity.flatMap((event) =>
      event.type === 'warning' && event.code === 'not-kept' ? [event.message] : [],
    )
    assert.equal(warnings.length, 1)
    const missing = Number(/(\d+) lines/.exec(warnings[0] ?? '')?.[1])
    assert.ok(heard > 0 && missing > 0)
    assert.equal(heard + missing, LINES)
  })
})
