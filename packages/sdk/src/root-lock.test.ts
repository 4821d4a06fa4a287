import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdir, readdir, symlink, writeFile } from 'node:fs/promises'
import { hostname } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { suite, test } from 'node:test'
import { fileURLToPath } from 'node:url'
import { RootLock } from './root-lock.ts'
import { folders } from './sdk.fixture.ts'

/** What a process leaves that ended without releasing its lock. */
const DEAD = JSON.stringify({ pid: 2 ** 22 - 1, host: hostname(), token: 'dead' })
const IN_USE = { type: 'STORAGE_IN_USE' }

interface Lockers extends AsyncDisposable {
  /** Lets all of them try to take the lock of a folder. */
  take(folder: string): Promise<string[]>
}

async function lockers(count: number): Promise<Lockers> {
  const program = fileURLToPath(new URL('./lock-child.fixture.ts', import.meta.url))
  const children = Array.from({ length: count }, () =>
    spawn(process.execPath, [program], { stdio: ['pipe', 'pipe', 'inherit'] }),
  )
  const lines = children.map(({ stdout }) => createInterface({ input: stdout })[Symbol.asyncIterator]())
  const answers = async (): Promise<string[]> => {
    const read = await Promise.all(lines.map((each) => each.next()))
    return read.map(({ value }) => String(value))
  }
  assert.deepEqual([...new Set(await answers())], ['ready'])
  return {
    take: (folder) => {
      for (const { stdin } of children) stdin.write(`${folder}\n`)
      return answers()
    },
    [Symbol.asyncDispose]: async () => {
      const ended = children.map((child) => once(child, 'exit'))
      for (const { stdin } of children) stdin.end()
      await Promise.all(ended)
    },
  }
}

suite('the lock of a storage folder', () => {
  test('is taken by exactly one of several processes that start at once, also after one that died', async () => {
    await using it = await folders()
    await using processes = await lockers(4)
    for (let round = 0; round < 40; round++) {
      const folder = join(it.root, String(round))
      await mkdir(folder)
      if (round % 2 === 0) await writeFile(join(folder, 'manager.lock'), DEAD)
      const others = ['STORAGE_IN_USE', 'STORAGE_IN_USE', 'STORAGE_IN_USE']
      assert.deepEqual((await processes.take(folder)).toSorted(), [...others, 'taken'], `round ${round}`)
      assert.deepEqual(await readdir(folder), ['manager.lock'])
    }
  })

  test('is one lock, whichever path leads to the folder', async () => {
    await using it = await folders()
    const alias = join(it.project, 'alias')
    await symlink(it.root, alias, 'junction')
    const lock = await RootLock.take(it.root)
    await assert.rejects(RootLock.take(alias), IN_USE)
    lock.release()
    const next = await RootLock.take(alias)
    await assert.rejects(RootLock.take(it.root), IN_USE)
    next.release()
    assert.deepEqual(await readdir(it.root), [])
  })

  test('is taken over if it cannot be read, or was that of a process whose id this one has now', async () => {
    await using it = await folders()
    const reused = JSON.stringify({ pid: process.pid, host: hostname(), token: 'another' })
    for (const left of ['', '{', 'null', '{}', reused]) {
      await writeFile(join(it.root, 'manager.lock'), left)
      const lock = await RootLock.take(it.root)
      lock.release()
      assert.deepEqual(await readdir(it.root), [])
    }
  })

  test('is not taken from a process on another machine', async () => {
    await using it = await folders()
    const elsewhere = JSON.stringify({ pid: 1, host: `${hostname()}-other`, token: 'theirs' })
    await writeFile(join(it.root, 'manager.lock'), elsewhere)
    await assert.rejects(RootLock.take(it.root), IN_USE)
  })
})
