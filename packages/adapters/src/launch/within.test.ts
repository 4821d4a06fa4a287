import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import { suite, test } from 'node:test'
import { endsWithin } from './within.ts'

function isZombie(pid: number): boolean {
  return /^State:\s+Z/m.test(readFileSync(`/proc/${pid}/status`, 'utf8'))
}

suite('a program that must end in time', () => {
  test('has done so, although the host was too busy to notice in time', async () => {
    const child = spawn('true')
    await once(child, 'spawn')
    const verdict = endsWithin({ processExited: once(child, 'exit') }, 20)
    const begun = performance.now()
    while (!isZombie(child.pid ?? 0) || performance.now() - begun < 40);
    assert.equal(await verdict, true)
  })

  test('has not done so if it continues', async () => {
    const child = spawn('sleep', ['60'])
    const exited = once(child, 'exit')
    assert.equal(await endsWithin({ processExited: exited }, 5), false)
    child.kill()
    await exited
  })
})
