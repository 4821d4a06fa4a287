import assert from 'node:assert/strict'
import { readFile, writeFile } from 'node:fs/promises'
import { describe, it } from 'node:test'
import { aTurn } from '../../test/launch/diary.ts'
import { scratch } from '../../test/launch/stand-in.ts'
import { liveHost, take } from '../../test/live/live-host.ts'
import { standInProgram } from '../../test/live/stand-in-program.ts'
import { codexLive } from '../codex/app-server/driver.ts'

describe('a live program in a version that nobody has tested', () => {
  it('runs, and every turn counts what was not understood in it', async (t) => {
    const dir = await scratch(t)
    const bin = await standInProgram(
      dir,
      'codex',
      `for (let n = 0; n < t.prompt.length; n++) t.raw('{"method":"new"}\\n')`,
    )
    await writeFile(bin, (await readFile(bin, 'utf8')).replace('codex-cli 0.169.0', 'codex-cli 9.9.9'))
    const host = liveHost()
    const session = await codexLive({ bin, cwd: dir, env: { CODEX_API_KEY: 'any' } }).open(null, host.host)
    t.after(() => session.close())
    for (const text of ['a', 'abc']) {
      await take(session.run({ ...aTurn, runId: text, input: [{ id: '0', type: 'text', text }] }), host).all
    }
    const counts = host.activity.flatMap((event) =>
      event.type === 'warning' && event.code === 'untested-version'
        ? [/^Codex 9\.9\.9 is not a version .*: (\d+) of \d+ lines were not understood\.$/.exec(event.message)?.[1]]
        : [],
    )
    assert.deepEqual(counts, ['1', '3'])
  })
})
