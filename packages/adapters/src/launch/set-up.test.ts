import assert from 'node:assert/strict'
import { chmod, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { describe, it } from 'node:test'
import { InspanError } from '@inspan/protocol'
import { clis } from '../clis.ts'
import { diary } from '../../test/launch/diary.ts'
import { errorOf, takeTurn, warningsOf } from '../../test/launch/print-turn.ts'
import { program, scratch } from '../../test/launch/stand-in.ts'
import { doctor } from './doctor.ts'

for (const { profile, agent, live } of clis) {
  const { title, command, binVariable, install, key } = profile
  const ways = [agent, live].filter((way) => way !== undefined)

  describe(`${title} that is not set up`, () => {
    it('a program that is missing is reported with what to install, or which variable to set', async (t) => {
      const dir = await scratch(t)
      for (const way of ways) {
        const env = { PATH: dir, [binVariable]: undefined }
        await assert.rejects(way({ env }).open(null, diary().host), (error) => {
          assert.ok(InspanError.is(error, 'not-found'))
          assert.match(error.message, new RegExp(`${title} was not found: there is no "${command}" on PATH`))
          assert.ok(error.hint?.includes(install) && error.hint.includes(binVariable))
          assert.equal(error.details['reason'], 'not-installed')
          return true
        })
      }
      const [found] = await doctor([profile], { PATH: dir, HOME: dir })
      assert.deepEqual([found?.found, found?.install], [false, install])
    })

    it('reports that its variable points to a file that does not exist', async (t) => {
      const env = { [binVariable]: join(await scratch(t), 'moved') }
      for (const way of ways) {
        await assert.rejects(
          way({ env }).open(null, diary().host),
          (error) => InspanError.is(error, 'not-found') && error.message.startsWith(binVariable),
        )
      }
    })

    it('a program that is broken is reported with how it ended and how to install it again', async (t) => {
      const dir = await scratch(t)
      const bin = join(dir, command)
      await writeFile(bin, `#!/bin/sh\necho "GLIBC_9.99 not found" >&2\nexit 127\n`)
      await chmod(bin, 0o755)
      await assert.rejects(agent({ bin }).open(null, diary().host), (error) => {
        assert.ok(InspanError.is(error, 'unsupported'))
        assert.match(error.message, /does not work: .*127.*GLIBC_9\.99/s)
        assert.ok(error.hint?.includes(install))
        return true
      })
    })

    it('runs in an untested version, and reports how many lines were not understood', async (t) => {
      const dir = await scratch(t)
      const notes = diary()
      const bin = await program(dir, `console.log('{"type":"from_the_future"}')`)
      await takeTurn(agent({ bin, cwd: dir, env: { HOME: dir } }), notes)
      assert.ok(warningsOf(notes).includes('untested-version'))
      const warning = notes.activity.find((event) => event.type === 'warning' && event.code === 'untested-version')
      assert.match(warning?.type === 'warning' ? warning.message : '', /1\.0\.0 is not a version .* of 1 lines/)
    })

    it('a program without a key reports what to set when it fails', async (t) => {
      const dir = await scratch(t)
      const notes = diary()
      const bin = await program(dir, `console.error('not logged in'); process.exitCode = 1`)
      const noKeys = Object.fromEntries(key.variables.map((name) => [name, undefined]))
      const env = { ...noKeys, HOME: dir, XDG_CONFIG_HOME: dir, XDG_DATA_HOME: dir }
      const { message } = errorOf(await takeTurn(agent({ bin, cwd: dir, env }), notes))
      assert.ok(
        message.includes('not logged in') && message.endsWith(`No key for ${title} was found. ${key.hint}`),
        message,
      )
    })
  })
}
