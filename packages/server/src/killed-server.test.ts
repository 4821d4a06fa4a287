import assert from 'node:assert/strict'
import { spawn, type ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, it } from 'node:test'
import { fileURLToPath } from 'node:url'
import { connect, type Client } from '@inspan/client'

const TOKEN = 't'.repeat(43)

async function start(db: string, port: number, dies: boolean): Promise<{ child: ChildProcess; port: number }> {
  const child = spawn(process.execPath, [fileURLToPath(new URL('killed-child.fixture.ts', import.meta.url))], {
    env: { ...process.env, DB: db, PORT: String(port), TOKEN, DIES: dies ? 'yes' : 'no' },
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  const [line] = (await once(child.stdout, 'data')) as [Buffer]
  return { child, port: Number(line.toString()) }
}

function until(client: Client, holds: (client: Client) => boolean): Promise<void> {
  return new Promise((resolve) => {
    const stop = client.subscribe(() => {
      if (!holds(client)) return
      stop()
      resolve()
    })
  })
}

describe('a server that is killed between the effect of a command and its reply', () => {
  it('has carried the command out; sent again, it gets its receipt and nothing happens twice', async () => {
    const folder = await mkdtemp(join(tmpdir(), 'inspan-killed-'))
    const db = join(folder, 'inspan.db')
    const first = await start(db, 0, true)
    const died = once(first.child, 'exit')
    const client = await connect({
      url: `http://127.0.0.1:${first.port}`,
      token: TOKEN,
      retry: { firstMs: 20, longestMs: 100 },
    })
    const { receipt } = client.send({ type: 'submit', prompt: 'only once' })
    assert.deepEqual(await died, [null, 'SIGKILL'])
    const second = await start(db, first.port, false)
    assert.equal((await receipt).status, 'done')
    if (client.getState().status !== 'idle') await until(client, () => client.getState().status === 'idle')
    const texts = client.getState().messages.map(({ content, role }) => `${role}: ${content}`)
    assert.deepEqual(
      texts.filter((text) => text.startsWith('user')),
      ['user: only once'],
    )
    await client.close()
    second.child.kill('SIGTERM')
    await once(second.child, 'exit')
    await rm(folder, { recursive: true })
  })
})
