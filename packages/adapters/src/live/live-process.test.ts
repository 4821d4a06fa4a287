import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { scratch } from '../../test/launch/stand-in.ts'
import { makePrivateDir } from '../launch/private-dir.ts'
import { LiveProcess } from './live-process.ts'

describe('the input of a live program', () => {
  it('can be read by strict parsers: half a surrogate pair is written as U+FFFD', async (t) => {
    const heard = Promise.withResolvers<string>()
    const process = await LiveProcess.start({
      command: 'cat',
      args: [],
      cwd: await scratch(t),
      env: { PATH: globalThis.process.env['PATH'] },
      dir: await makePrivateDir(),
      graceMs: 5_000,
      onLine: (_stream, line) => {
        heard.resolve(line.text)
        return undefined
      },
      onLeft: () => undefined,
    })
    process.send({ reason: ['no \ud83d', { whole: '😀' }] })
    assert.equal(await heard.promise, '{"reason":["no \ufffd",{"whole":"😀"}]}')
    await process.stop()
    await process.done
  })
})
