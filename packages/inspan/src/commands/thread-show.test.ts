import assert from 'node:assert/strict'
import { mkdtemp, rm } from 'node:fs/promises'
import { hostname, tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { SqliteStore } from '@inspan/core'
import { admitCommand, createThread, ProcessOwner, ThreadRuntime } from '@inspan/core/engine'
import { demoAgent } from '../demo-agent.ts'
import { capturedMain, type CapturedRun } from '../captured-main.fixture.ts'

test('inspan threads show prints the owner, the inbox and the waits of a thread, and changes nothing', async (t) => {
  const folder = await mkdtemp(join(tmpdir(), 'inspan-show-'))
  t.after(() => rm(folder, { recursive: true }))
  const file = join(folder, 'data.db')
  const store = await SqliteStore.open({ url: file })
  t.after(() => store.close())
  const show = (...args: string[]): Promise<CapturedRun> =>
    capturedMain(['threads', 'show', ...args, '--db', file], { cwd: folder, env: { INSPAN_HOME: folder } })
  const owner = await ProcessOwner.register(store)
  await createThread(store, { id: 'asked-about', resourceId: folder, title: 'A\nquestion' })
  assert.match((await show('asked-about')).out, /owner +none: it is at rest\ninbox +empty\nwaits +none\n/)
  const runtime = await ThreadRuntime.open({
    store,
    owner,
    thread: 'asked-about',
    agents: { demo: demoAgent(folder) },
    decide: () => ({ policy: 'ask', reason: 'somebody has to look at it' }),
  })
  await runtime.submit({ agentId: 'demo', parts: [{ id: '0', type: 'text', text: 'Look.' }] })
  await runtime.idle()
  const { epoch } = await store.claim('asked-about', owner.id)
  // A UUIDv7 begins with its time in milliseconds.
  const at = Date.now()
  const hex = at.toString(16).padStart(12, '0')
  const commandId = `${hex.slice(0, 8)}-${hex.slice(8)}-7000-8000-000000000001`
  const key = { principal: 'ann', clientId: 'phone', commandId }
  await admitCommand(store, { command: { type: 'submit', prompt: 'Go on.' }, key, target: 'asked-about', at })
  const { out } = await show('asked-about', '--json')
  const view = JSON.parse(out) as Record<string, unknown>
  assert.deepEqual(view['owner'], { id: owner.id, host: hostname(), pid: process.pid, epoch })
  assert.deepEqual(view['inbox'], [{ type: 'submit', by: 'ann', at }])
  const [wait] = view['waits'] as { thread: string; kind: string }[]
  assert.partialDeepStrictEqual(wait, { thread: 'asked-about', kind: 'approval' })
  const text = (await show('asked-about')).out
  assert.match(text, new RegExp(`owner +process ${process.pid} on `))
  assert.match(text, /inbox +1 to carry out\n {2}submit by ann/)
  assert.match(text, /waits +1 open\n {2}approval /)
  assert.equal((await store.getStream('asked-about'))?.epoch, epoch)
  assert.equal((await show('nope')).code, 1)
  assert.equal((await show()).code, 2)
  await runtime.close()
  await owner.close()
})
