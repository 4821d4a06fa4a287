import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, suite, test } from 'node:test'
import { fileURLToPath } from 'node:url'
import { Agent, Harness } from '@inspan/core'
import { createThread } from '@inspan/core/engine'
import { serve } from '@inspan/server'
import { scriptedModel } from '@inspan/testing'
import { PostgresStore } from '../postgres-store.ts'
import { startPostgres, withClient, type PostgresServer } from '../server.fixture.ts'
import { until } from './fleet.fixture.ts'

const program = fileURLToPath(new URL('../../../inspan/bin/inspan.js', import.meta.url))
let server: PostgresServer
before(async () => {
  server = await startPostgres()
})
after(() => server.stop())

test('a server lives on while its database is away, says that it is not ready, and works again afterwards', async () => {
  const own = await startPostgres()
  const storage = await PostgresStore.open({ url: await own.emptyDatabase() })
  const agent = new Agent({ id: 'agent', model: scriptedModel([{ text: 'Hello' }]) })
  const harness = new Harness({ id: 'away', agent, modes: [{ id: 'chat' }], storage })
  const serving = await serve({ harness })
  const statusOf = async (route: string): Promise<number> => (await fetch(`${serving.url}/v1/${route}`)).status
  try {
    assert.equal(await statusOf('ready'), 200)
    await own.restart(async () => {
      assert.equal(await statusOf('ready'), 503)
      assert.equal(await statusOf('health'), 200)
    })
    await until(async () => (await statusOf('ready')) === 200)
    await harness.sendMessage({ content: 'Hi' })
    const headers = { authorization: `Bearer ${serving.token}` }
    const metrics = await (await fetch(`${serving.url}/v1/metrics`, { headers })).text()
    assert.match(metrics, /^inspan_commands_accepted 0$/m)
  } finally {
    await serving.close()
    await harness.destroy()
    await storage.close()
    await own.stop()
  }
})

suite('inspan on a database that several machines share', () => {
  test('`db migrate` prepares it, `serve --store` serves it, `db status` shows who works on it', async () => {
    const url = await server.emptyDatabase()
    const home = await mkdtemp(join(tmpdir(), 'inspan-shared-'))
    const env = { ...process.env, INSPAN_HOME: home, INSPAN_STORE: url }
    const inspan = async (...args: string[]): Promise<{ code: number; out: string }> => {
      const child = spawn(process.execPath, [program, ...args], {
        cwd: home,
        env,
        stdio: ['ignore', 'pipe', 'inherit'],
      })
      const out = (await child.stdout.toArray()).join('')
      return { code: child.exitCode ?? ((await once(child, 'exit')) as [number])[0], out }
    }
    const unprepared = 'There are no tables yet: "inspan db migrate" creates them, and so does "inspan serve".\n'
    assert.deepEqual(await inspan('db', 'status'), { code: 1, out: unprepared })
    assert.equal((await inspan('threads')).code, 1)
    assert.deepEqual(await inspan('db', 'migrate'), { code: 0, out: 'The tables were created.\n' })
    assert.deepEqual(await inspan('db', 'migrate'), { code: 0, out: 'The database is up to date.\n' })
    await withClient(url, async (client) => {
      await client.query(`INSERT INTO harness.owners (id, host, pid, start_time, boot_id, until, beat_at)
        VALUES ('gone', 'web-1', 7, '', '', 0, clock_timestamp() - interval '1 hour')`)
      const { out } = await inspan('db', 'status')
      assert.match(
        out,
        /^process 7 on web-1 {2}0 threads, silent for 36\d\d s: dead, or cut off\n1 process, 0 commands .*layout 1\n$/,
      )
      await client.query('DELETE FROM harness.owners')
    })
    assert.equal((await inspan('db', 'tenant', 'acme', '--max-threads', '5', '--keep-days', '30')).code, 0)
    assert.equal((await inspan('db', 'tenants')).out, 'acme  5 threads  kept for 30 days\n')
    const serving = spawn(process.execPath, [program, 'serve', '--no-page'], {
      cwd: home,
      env,
      stdio: ['ignore', 'pipe', 'inherit'],
    })
    const [line] = (await once(serving.stdout, 'data')) as [Buffer]
    const address = /http:\S+/.exec(line.toString())?.[0] ?? ''
    assert.equal((await fetch(`${address}/v1/ready`)).status, 200)
    const { code, out } = await inspan('db', 'status', '--json')
    assert.equal(code, 0)
    const { machines } = JSON.parse(out) as { machines: { pid: number }[] }
    assert.deepEqual(
      machines.map(({ pid }) => pid),
      [serving.pid],
    )
    const store = await PostgresStore.open({ url })
    await createThread(store, { id: 'shown', resourceId: 'acme' })
    await store.close()
    const shown = await inspan('threads', 'show', 'shown', '--json')
    assert.partialDeepStrictEqual(JSON.parse(shown.out), { id: 'shown', owner: null, inbox: [], waits: [] })
    serving.kill('SIGTERM')
    await once(serving, 'exit')
    await rm(home, { recursive: true })
  })
})
