import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { Agent, createTool, Harness, MemoryStore } from '@inspan/core'
import { createThread, ThreadLog } from '@inspan/core/engine'
import { servedHarness, servedProjects } from '@inspan/core/serving'
import { connect } from '@inspan/client'
import { NO_RULES } from '@inspan/protocol'
import { scriptedModel } from '@inspan/testing'
import { ServerBench } from './server.fixture.ts'

const write = createTool({ id: 'write_file', description: 'Writes.', category: 'edit', execute: () => 'written' })
const WRITE = { toolCalls: [{ name: 'write_file', input: { path: 'a.txt' } }] }

describe('the overview', () => {
  it('shows what waits in any thread, so that it can be answered from elsewhere', async () => {
    await using bench = await ServerBench.start([WRITE, { text: 'Written.' }], { agent: { tools: [write] } })
    const client = await connect({ url: bench.url, token: bench.token })
    const asking = client.getState().thread
    await client.send({ type: 'submit', prompt: 'Write' }).receipt
    while ((client.getState().pendingApprovals ?? []).length === 0) {
      await new Promise<void>((changed) => void client.subscribe(() => changed()))
    }
    const other = await client.routes.createThread({ title: 'Another' })
    await client.open(other.id)
    const { threads: overview } = await client.routes.overview()
    assert.deepEqual(
      overview.map(({ id, status }) => [id, status]),
      [
        [asking, 'awaiting-approval'],
        [other.id, 'idle'],
      ],
    )
    const [first] = overview
    assert.equal(first?.agentId, 'agent')
    assert.equal(first.mode, 'build')
    const [wait] = first.pendingApprovals ?? []
    assert.deepEqual(wait?.input, { path: 'a.txt' })
    await client.send({ type: 'approve', toolCallId: wait.toolCallId, thread: asking }).receipt
    assert.deepEqual((await client.routes.overview()).threads[0]?.pendingApprovals ?? [], [])
    await client.close()
  })

  it('shows nothing of another tenant', async () => {
    const storage = new MemoryStore()
    await using theirs = await ServerBench.start([WRITE], {
      agent: { tools: [write] },
      harness: { storage, resourceId: 'them' },
    })
    const client = await connect({ url: theirs.url, token: theirs.token })
    await client.send({ type: 'submit', prompt: 'Write' }).receipt
    while ((client.getState().pendingApprovals ?? []).length === 0) {
      await new Promise<void>((changed) => void client.subscribe(() => changed()))
    }
    await using ours = await ServerBench.start([], { harness: { storage, resourceId: 'us' } })
    const us = await connect({ url: ours.url, token: ours.token })
    assert.deepEqual(await us.routes.overview(), { threads: [], elsewhere: [] })
    await using open = await ServerBench.start([], {
      harness: { storage, resourceId: 'we' },
      serve: { otherProjects: true, identify: () => ({ principal: 'p', role: 'drive', tenant: 'tenant' }) },
    })
    const tenant = await connect({ url: open.url, token: open.token })
    assert.deepEqual(await tenant.routes.overview(), { threads: [], elsewhere: [] })
    await Promise.all([client.close(), us.close(), tenant.close()])
  })

  it('names what waits in other projects where that is wanted, and those threads stay closed', async () => {
    const storage = new MemoryStore()
    await using theirs = await ServerBench.start([WRITE], {
      agent: { tools: [write] },
      harness: { storage, resourceId: '/projects/theirs' },
    })
    const client = await connect({ url: theirs.url, token: theirs.token })
    await client.send({ type: 'submit', prompt: 'Write' }).receipt
    while ((client.getState().pendingApprovals ?? []).length === 0) {
      await new Promise<void>((changed) => void client.subscribe(() => changed()))
    }
    await using ours = await ServerBench.start([], {
      harness: { storage, resourceId: '/projects/ours' },
      serve: { otherProjects: true },
    })
    const us = await connect({ url: ours.url, token: ours.token })
    const { elsewhere, threads } = await us.routes.overview()
    assert.deepEqual(threads, [])
    const [there, ...more] = elsewhere
    assert.deepEqual([there?.project, there?.status, more.length], ['/projects/theirs', 'awaiting-approval', 0])
    assert.deepEqual(there?.pendingApprovals?.[0]?.input, { path: 'a.txt' })
    await assert.rejects(us.open(there?.id ?? ''))
    const { status } = await us.send({ type: 'approve', toolCallId: 'any', thread: there?.id ?? '' }).receipt
    assert.equal(status, 'rejected')
    await Promise.all([client.close(), us.close()])
  })

  it('opens and answers what waits in another project, with the harness of that project', async () => {
    const storage = new MemoryStore()
    const theirs = { storage, resourceId: '/projects/theirs' }
    await using before = await ServerBench.start([WRITE], { agent: { tools: [write] }, harness: theirs })
    const client = await connect({ url: before.url, token: before.token })
    await client.send({ type: 'submit', prompt: 'Write' }).receipt
    while ((client.getState().pendingApprovals ?? []).length === 0) {
      await new Promise<void>((changed) => void client.subscribe(() => changed()))
    }
    await client.close()
    await before.server.close()
    await before.harness.destroy()

    const opened: string[] = []
    const model = scriptedModel([{ text: 'Written over there.' }])
    const harness = new Harness({
      id: 'bench',
      agent: new Agent({ id: 'agent', model, tools: [write] }),
      modes: [{ id: 'build' }],
      ...theirs,
    })
    await using ours = await ServerBench.start([], {
      harness: { storage, resourceId: '/projects/ours' },
      serve: {
        otherProjects: true,
        projects: {
          has: (resourceId) => resourceId === '/projects/theirs',
          open: async (resourceId) => {
            opened.push(resourceId)
            return harness
          },
        },
      },
    })
    const us = await connect({ url: ours.url, token: ours.token })
    const [there] = (await us.routes.overview()).elsewhere
    assert.deepEqual([there?.project, there?.canOpen], ['/projects/theirs', true])
    const thread = there?.id ?? ''
    const [wait] = there?.pendingApprovals ?? []
    const { status } = await us.send({ type: 'approve', toolCallId: wait?.toolCallId ?? '', thread }).receipt
    assert.equal(status, 'done')
    await us.open(thread)
    while (us.getState().messages.at(-1)?.content !== 'Written over there.') {
      await new Promise<void>((changed) => void us.subscribe(() => changed()))
    }
    assert.deepEqual(opened, ['/projects/theirs'])
    await us.close()
    await harness.destroy()
  })

  it('leaves runs alone that a dead process left in a project it does not open', async () => {
    const storage = new MemoryStore()
    const owner = 'dead'
    await storage.putOwner({ id: owner, host: 'elsewhere', pid: 1, startTime: '', bootId: '', until: 0 })
    for (const resourceId of ['/projects/ours', '/projects/theirs']) {
      await createThread(storage, { id: resourceId, resourceId })
      const claim = await storage.claim(resourceId, owner)
      assert.equal(claim.status, 'owned')
      const log = await ThreadLog.open({ store: storage, stream: resourceId, fence: { owner, epoch: claim.epoch } })
      await log.commit([{ type: 'run.started', runId: resourceId, agentId: 'agent', door: 'bench', rules: NO_RULES }])
    }
    const served = servedHarness(
      new Harness({
        id: 'bench',
        agent: new Agent({ id: 'agent', model: scriptedModel([]) }),
        modes: [{ id: 'build' }],
        storage,
        resourceId: '/projects/ours',
      }),
    )
    const open = async (): Promise<never> => assert.fail('no other project is opened')
    const found = async (door: typeof served): Promise<string[]> => {
      const ids: string[] = []
      for await (const { id } of door.abandoned()) ids.push(id)
      return ids.sort()
    }
    assert.deepEqual(await found(served), ['/projects/ours', '/projects/theirs'])
    assert.deepEqual(await found(servedProjects(served, { has: () => false, open })), ['/projects/ours'])
  })
})
