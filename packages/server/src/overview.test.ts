import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { createTool, MemoryStore } from '@inspan/core'
import { connect } from '@inspan/client'
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
    const overview = await client.routes.overview()
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
    assert.deepEqual((await client.routes.overview())[0]?.pendingApprovals ?? [], [])
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
    assert.deepEqual(
      (await us.routes.overview()).map(({ id }) => id),
      [],
    )
    await Promise.all([client.close(), us.close()])
  })
})
