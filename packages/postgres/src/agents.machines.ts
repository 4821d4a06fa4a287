import assert from 'node:assert/strict'
import { mkdir, mkdtemp, readdir, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, it } from 'node:test'
import { createAgentManager, NativeHarnessFactory, type AgentManager } from '@inspan/sdk'
import { scriptedModel } from '@inspan/testing'
import { PostgresStore } from './postgres-store.ts'
import { startPostgres, type PostgresServer } from './server.fixture.ts'

let server: PostgresServer
let base: string
before(async () => {
  server = await startPostgres()
  base = await mkdtemp(join(tmpdir(), 'inspan-agents-'))
})
after(async () => {
  await server.stop()
  await rm(base, { recursive: true })
})

it('agents of the SDK are rows of a Postgres store, for every machine and once', async () => {
  const url = await server.emptyDatabase()
  const stores: PostgresStore[] = []
  const managers: AgentManager[] = []
  const machine = async (name: string): Promise<AgentManager> => {
    const store = await PostgresStore.open({ url })
    stores.push(store)
    await mkdir(join(base, name))
    const factory = new NativeHarnessFactory({ store, model: scriptedModel([]) })
    const manager = await createAgentManager(join(base, name), factory)
    managers.push(manager)
    return manager
  }
  try {
    const [first, second] = [await machine('first'), await machine('second')]
    const agent = await first.createAgent(base, { agentId: 'a', name: 'Ada' })
    const session = await agent.createChatSession()
    await agent.updateAgentConfig({ name: 'Bob' })
    await assert.rejects(second.createAgent(base, { agentId: 'a' }), { type: 'AGENT_ALREADY_EXISTS' })
    const created = await Promise.allSettled([first, second].map((each) => each.createAgent(base, { agentId: 'b' })))
    assert.deepEqual(created.map(({ status }) => status).toSorted(), ['fulfilled', 'rejected'])
    const third = await machine('third')
    assert.deepEqual(third.getAgentIds(), ['a', 'b'])
    assert.equal(third.getAgent('a').getAgentConfig().name, 'Bob')
    assert.deepEqual(third.getAgent('a').getChatSessionIds(), [session.getId()])
    await first.destroyAgent('a')
    const fourth = await machine('fourth')
    assert.deepEqual([fourth.getAgentIds(), fourth.getRestoreFailures()], [['b'], []])
    await fourth.createAgent(base, { agentId: 'a' })
    assert.ok(!(await readdir(join(base, 'first'))).includes('agents'))
  } finally {
    for (const manager of managers) await manager.shutdown()
    for (const store of stores) await store.close()
  }
})
