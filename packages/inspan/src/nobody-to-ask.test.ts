import assert from 'node:assert/strict'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Readable } from 'node:stream'
import { test } from 'node:test'
import { SqliteStore } from '@inspan/core'
import { createThread, ProcessOwner, ThreadRuntime } from '@inspan/core/engine'
import { demoAgent } from './demo-agent.ts'
import { main } from './main.ts'

/** Leaves a thread of the demo agent whose tool was running when its process ended. */
async function leaveInterrupted(file: string, cwd: string): Promise<void> {
  const store = new SqliteStore({ url: file })
  const owner = await ProcessOwner.register(store)
  await createThread(store, { id: 'left', resourceId: cwd })
  const begun = Promise.withResolvers<void>()
  const { driver, tools } = demoAgent(cwd)
  const hanging = tools.map((tool) => ({
    ...tool,
    execute: async () => {
      begun.resolve()
      return new Promise<never>(() => undefined)
    },
  }))
  const agents = { [driver.id]: { driver, tools: hanging } }
  const runtime = await ThreadRuntime.open({ store, owner, thread: 'left', agents })
  await runtime.submit({ agentId: driver.id, parts: [{ id: '0', type: 'text', text: 'Look.' }] })
  await begun.promise
  await runtime.close()
  assert.equal(runtime.state.head.inDoubt.length, 1)
  await owner.close()
  await store.close()
}

test('inspan run declines what would have to be asked, reports it, and ends', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'inspan-nobody-'))
  try {
    const file = join(folder, 'data.db')
    await leaveInterrupted(file, folder)
    let out = ''
    const code = await main(['run', '--db', file, '--thread', 'left', 'Look again.'], {
      out: (text) => (out += `${text}\n`),
      write: (text) => (out += text),
      err: () => undefined,
      input: Readable.from([]),
      isTty: false,
      cwd: folder,
      env: { INSPAN_HOME: folder },
    })
    assert.equal(code, 4)
    assert.match(out, /✗ list_files .*denied: nobody can be asked/)
    assert.match(out, /demo agent/, 'and the agent goes on without it')
  } finally {
    await rm(folder, { recursive: true, maxRetries: 5 })
  }
})
