import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { connect, type Client, type ClientState } from '@inspan/client'
import { createTool, MemoryStore } from '@inspan/core'
import { ServerBench } from './server.fixture.ts'
import { until } from './until.fixture.ts'

const write = createTool({ id: 'write_file', description: 'Writes.', category: 'edit', execute: () => 'written' })
const WRITE = { toolCalls: [{ name: 'write_file', input: { path: 'a.txt' } }] }
const DONE = { text: 'Written.' }
const NONE = { tools: [], categories: [] }

function tenantIn(headers: string): string {
  return headers.includes('of-bob') ? 'bob' : 'ann'
}

/** Has the agent write, and returns whether that had to be asked. */
async function asks(client: Client): Promise<boolean> {
  const receipt = await client.send({ type: 'submit', prompt: 'Write' }).receipt
  const isWaiting = (state: ClientState): boolean => (state.pendingApprovals ?? []).length > 0
  await until(client, (state) => isWaiting(state) || state.head.lastRun?.runId === receipt.runId)
  return isWaiting(client.getState())
}

async function approve(client: Client, scope: 'thread' | 'resource'): Promise<void> {
  const [wait] = client.getState().pendingApprovals ?? []
  await client.send({ type: 'approve', toolCallId: wait?.toolCallId ?? '', remember: 'tool', scope }).receipt
  await until(client, ({ head }) => head.run === null)
}

describe('an approval that counts for the whole project', () => {
  it('is listed with its scope, asks no other thread of it, and is revoked from any', async () => {
    const storage = new MemoryStore()
    const options = { agent: { tools: [write] }, harness: { storage, resourceId: '/projects/ours' } }
    await using bench = await ServerBench.start([WRITE, DONE, WRITE, DONE, WRITE], options)
    const client = await connect({ url: bench.url, token: bench.token })
    const first = client.getState().thread
    assert.equal(await asks(client), true)
    await approve(client, 'resource')
    const { id } = await client.routes.createThread({})
    await client.open(id)
    assert.equal(await asks(client), false)
    const granted = { tools: ['write_file'], categories: [] }
    assert.deepEqual(await client.routes.grants(id), { thread: NONE, project: granted, resource: '/projects/ours' })
    const { status } = await client.send({ type: 'revoke', tool: 'write_file', scope: 'resource' }).receipt
    assert.equal(status, 'done')
    assert.deepEqual((await client.routes.grants(first)).project, NONE)
    assert.equal(await asks(client), true)
    await client.close()
  })

  it('is a grant of the caller alone on a server with tenants', async () => {
    await using bench = await ServerBench.start([WRITE, DONE, WRITE], {
      agent: { tools: [write] },
      // A proxy would say who somebody is; here it is the token.
      serve: {
        identify: ({ headers }) => ({ principal: 'p', role: 'drive', tenant: tenantIn(JSON.stringify(headers)) }),
      },
    })
    const ann = await connect({ url: bench.url, token: 'of-ann' })
    assert.equal(await asks(ann), true)
    await approve(ann, 'resource')
    const bob = await connect({ url: bench.url, token: 'of-bob' })
    assert.equal(await asks(bob), true)
    assert.deepEqual((await bob.routes.grants(bob.getState().thread)).project, NONE)
    await assert.rejects(bob.routes.grants(ann.getState().thread))
    await Promise.all([ann.close(), bob.close()])
  })
})
