import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { existsSync } from 'node:fs'
import { readdir, readlink, rm } from 'node:fs/promises'
import { suite, test } from 'node:test'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { scriptedModel } from '@inspan/testing'
import { createAgentManager, NativeHarnessFactory } from './index.ts'
import { chatting, eventsOf, folders } from './sdk.fixture.ts'

suite('many', () => {
  test('agents, a hundred of them, are all restored', async () => {
    await using it = await folders()
    const start = () => createAgentManager(it.root, new NativeHarnessFactory({ model: scriptedModel([]) }))
    const first = await start()
    for (let n = 0; n < 100; n++) await first.createAgent(it.project, { agentId: `agent-${n}` })
    await first.shutdown()
    await using second = await start()
    assert.equal(second.getAgentIds().length, 100)
    assert.deepEqual(second.getRestoreFailures(), [])
  })

  test('sessions, a thousand of them, are all found again, and none is opened until it is used', async () => {
    await using it = await chatting([{ text: 'Hi.' }])
    for (let n = 1; n < 1_000; n++) await it.agent.createChatSession()
    const manager = await it.restart()
    const agent = manager.getAgent('a')
    const ids = agent.getChatSessionIds()
    assert.equal(new Set(ids).size, 1_000)
    assert.equal(ids[0], it.session.getId())
    await eventsOf(await agent.getChatSession(ids[0]).chat('Hi'))
  })
})

/** What this process has open in a folder, where the system tells. */
async function openFiles(folder: string): Promise<string[]> {
  const all = '/proc/self/fd'
  if (!existsSync(all)) return []
  const paths = (await readdir(all)).map((fd) => readlink(`${all}/${fd}`).catch(() => ''))
  return (await Promise.all(paths)).filter((path) => path.startsWith(folder))
}

suite('a shutdown', () => {
  test('leaves no timer and no handle, and lets the process end by itself', async () => {
    const program = fileURLToPath(new URL('./ending.fixture.ts', import.meta.url))
    const { stdout } = await promisify(execFile)(process.execPath, [program], { timeout: 60_000 })
    assert.equal(stdout, 'Hello.\n\n')
  })

  test('leaves a folder that can be removed at once', async () => {
    await using it = await chatting([{ text: 'Hi.' }])
    await eventsOf(await it.session.chat('Hi'))
    await it.manager.shutdown()
    // Windows removes no folder in which a file is open, and an open database has more files than one.
    assert.deepEqual((await readdir(it.root)).toSorted(), ['agents', 'inspan.db'])
    assert.deepEqual(await openFiles(it.root), [])
    await rm(it.root, { recursive: true })
  })
})
