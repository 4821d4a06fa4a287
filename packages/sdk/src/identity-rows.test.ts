import assert from 'node:assert/strict'
import { mkdir, readdir, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { suite, test } from 'node:test'
import { SqliteStore } from '@inspan/core'
import { ProcessOwner } from '@inspan/core/engine'
import type { Claim } from '@inspan/protocol/store'
import { scriptedModel, type ModelTurn } from '@inspan/testing'
import { createAgentManager, NativeHarnessFactory, type AgentManager, type NativeAgentHarness } from './index.ts'
import { eventsOf, folders, textOf, type Folders } from './sdk.fixture.ts'

/** As on a machine of its own: another folder, the same store. */
async function managerOn(store: SqliteStore, { root }: Folders, script: readonly ModelTurn[] = []) {
  const factory = new NativeHarnessFactory({ store, identities: 'store', model: scriptedModel(script) })
  return createAgentManager(root, factory)
}

const ids = (manager: AgentManager<NativeAgentHarness>): string[] => manager.getAgentIds()

suite('agents in a store that managers share', () => {
  test('are rows of it, which every manager restores, with their sessions', async () => {
    const store = new SqliteStore({ url: ':memory:' })
    await using here = await folders()
    await using there = await folders()
    await using first = await managerOn(store, here, [{ text: 'One.' }])
    const agent = await first.createAgent(here.project, { agentId: 'a', name: 'Ada' })
    const session = await agent.createChatSession()
    assert.equal(textOf(await eventsOf(await session.chat('Hi'))), 'One.')
    await agent.updateAgentConfig({ name: 'Bob' })
    assert.deepEqual((await readdir(here.root)).includes('agents'), false)
    assert.deepEqual(
      (await store.listThreads({})).items.map(({ id }) => id),
      [session.getId()],
    )
    await first.shutdown()
    await using second = await managerOn(store, there)
    assert.deepEqual(ids(second), ['a'])
    assert.equal(second.getAgent('a').getAgentConfig().name, 'Bob')
    const history = await second.getAgent('a').getChatSession(session.getId()).getMessageHistory()
    assert.deepEqual(history.map(({ content }) => content).at(0), 'Hi')
    await second.shutdown()
    await store.close()
  })

  test('have an id once, and a second one changes nothing', async () => {
    const store = new SqliteStore({ url: ':memory:' })
    await using here = await folders()
    await using there = await folders()
    await using first = await managerOn(store, here, [{ text: 'One.' }])
    await using second = await managerOn(store, there)
    const session = await (await first.createAgent(here.project, { agentId: 'a' })).createChatSession()
    await assert.rejects(second.createAgent(there.project, { agentId: 'a' }), { type: 'AGENT_ALREADY_EXISTS' })
    assert.deepEqual(ids(second), [])
    assert.equal(textOf(await eventsOf(await session.chat('Hi'))), 'One.')
    const both = await Promise.allSettled(
      [first, second].map((manager) => manager.createAgent(here.project, { agentId: 'b' })),
    )
    assert.deepEqual(both.map(({ status }) => status).toSorted(), ['fulfilled', 'rejected'])
    await second.shutdown()
    await first.shutdown()
    await store.close()
  })

  test('are found to exist, and changed, also while another manager is writing the row', async () => {
    const wasHeld = Promise.withResolvers<void>()
    class WatchedStore extends SqliteStore {
      override async claim(stream: string, owner: string): Promise<Claim> {
        const claim = await super.claim(stream, owner)
        if (claim.status === 'held') wasHeld.resolve()
        return claim
      }
    }
    const store = new WatchedStore({ url: ':memory:' })
    await using here = await folders()
    await using there = await folders()
    await using first = await managerOn(store, here)
    await using second = await managerOn(store, there)
    const agent = await first.createAgent(here.project, { agentId: 'a' })
    const row = (await store.listThreads({ includeHidden: true })).items.find(({ id }) => id.endsWith('/a'))
    assert.ok(row !== undefined)
    const writer = await ProcessOwner.register(store)
    const fence = await writer.claim(row.id)
    await assert.rejects(second.createAgent(there.project, { agentId: 'a' }), { type: 'AGENT_ALREADY_EXISTS' })
    const change = agent.updateAgentConfig({ name: 'Bob' })
    await Promise.race([wasHeld.promise, change])
    await writer.release(row.id, fence)
    await change
    assert.match(JSON.stringify(await store.getThread(row.id)), /Bob/)
    await writer.close()
    for (const manager of [second, first]) await manager.shutdown()
    await store.close()
  })

  test('are gone for all after they were destroyed, with their config, and their id is free again', async () => {
    const store = new SqliteStore({ url: ':memory:' })
    await using here = await folders()
    await using there = await folders()
    await using first = await managerOn(store, here)
    await first.createAgent(here.project, { agentId: 'a', instructions: 'The secret.' })
    await first.destroyAgent('a')
    const rows = await store.listThreads({ includeHidden: true })
    assert.doesNotMatch(JSON.stringify(rows), /secret/)
    await using second = await managerOn(store, there)
    assert.deepEqual([ids(second), second.getRestoreFailures()], [[], []])
    second.onLog(({ message }) => assert.fail(message))
    await second.createAgent(there.project, { agentId: 'a', name: 'New' })
    await using elsewhere = await folders()
    await using third = await managerOn(store, elsewhere)
    assert.equal(third.getAgent('a').getAgentConfig().name, 'New')
    for (const manager of [third, second, first]) await manager.shutdown()
    await store.close()
  })

  test('do not come back when another manager changes an agent that was destroyed', async () => {
    const store = new SqliteStore({ url: ':memory:' })
    await using here = await folders()
    await using there = await folders()
    await using first = await managerOn(store, here)
    await first.createAgent(here.project, { agentId: 'a' })
    await using second = await managerOn(store, there)
    const agent = second.getAgent('a')
    await first.destroyAgent('a')
    await assert.rejects(agent.updateAgentConfig({ name: 'Ann' }), { type: 'AGENT_NOT_FOUND' })
    assert.deepEqual(agent.getAgentConfig(), {})
    await second.destroyAgent('a')
    for (const manager of [second, first]) await manager.shutdown()
    await using third = await managerOn(store, here)
    assert.deepEqual(ids(third), [])
    await third.shutdown()
    await store.close()
  })

  test('are not there if their creation fails, and can be replaced if they cannot be restored', async () => {
    const store = new SqliteStore({ url: ':memory:' })
    await using here = await folders()
    await using there = await folders()
    await using first = await managerOn(store, here)
    const rules = ['missing.md']
    await assert.rejects(first.createAgent(here.project, { agentId: 'a', rules }))
    const project = join(here.root, 'project')
    await mkdir(project)
    await first.createAgent(project, { agentId: 'a' })
    await first.shutdown()
    await rm(project, { recursive: true })
    await using second = await managerOn(store, there)
    assert.deepEqual(
      second.getRestoreFailures().map(({ agentId }) => agentId),
      ['a'],
    )
    await second.createAgent(there.project, { agentId: 'a' })
    assert.deepEqual([ids(second), second.getRestoreFailures()], [['a'], []])
    await second.shutdown()
    await store.close()
  })
})
