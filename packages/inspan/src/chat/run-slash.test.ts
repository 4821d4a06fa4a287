import assert from 'node:assert/strict'
import { suite, test } from 'node:test'
import { connect } from '@inspan/client'
import { Agent, createTool, Harness } from '@inspan/core'
import { serve } from '@inspan/server'
import { scriptedModel } from '@inspan/testing'
import { until } from '../until.fixture.ts'
import { runSlash, type SlashHost } from './run-slash.ts'

const WRITE = { toolCalls: [{ name: 'write_file', input: { path: 'a.txt' } }] }

suite('/grants', () => {
  test('lists what is allowed in the thread and in the project, and revokes it by its number', async () => {
    const write = createTool({ id: 'write_file', description: 'Writes.', category: 'edit', execute: () => 'written' })
    const model = scriptedModel([WRITE, { text: 'One.' }, WRITE, { text: 'Two.' }])
    const harness = new Harness({
      id: 'chat',
      resourceId: '/projects/mine',
      agent: new Agent({ id: 'me', model, tools: [write] }),
      modes: [{ id: 'build' }],
    })
    const server = await serve({ harness })
    const client = await connect({ url: server.url, token: server.token })
    try {
      const host: SlashHost = {
        client,
        send: (command) => void client.send(command),
        leave: () => undefined,
        copy: () => undefined,
      }
      assert.deepEqual(await runSlash('grants', '', host), ['Nothing is allowed beyond the rules.'])
      for (const [remember, scope] of [
        ['tool', 'thread'],
        ['category', 'resource'],
      ] as const) {
        await client.send({ type: 'submit', prompt: 'Write' }).receipt
        await until(client, ({ pendingApprovals = [] }) => pendingApprovals.length > 0)
        const [wait] = client.getState().pendingApprovals ?? []
        await client.send({ type: 'approve', toolCallId: wait?.toolCallId ?? '', remember, scope }).receipt
        await until(client, ({ head }) => head.run === null)
        if (scope === 'thread') {
          assert.deepEqual(await runSlash('grants', '', host), [
            '  1  write_file  in this thread',
            '/grants <number> revokes it.',
          ])
          assert.deepEqual(await runSlash('grants', '1', host), ['Revoked: write_file  in this thread'])
        }
      }
      assert.deepEqual(await runSlash('grants', '', host), [
        '  1  every edit  in the project /projects/mine',
        '/grants <number> revokes it.',
      ])
      await assert.rejects(runSlash('grants', '2', host), /There is no grant 2/)
      assert.deepEqual(await runSlash('grants', '1', host), ['Revoked: every edit  in the project /projects/mine'])
      assert.deepEqual(await runSlash('grants', '', host), ['Nothing is allowed beyond the rules.'])
    } finally {
      await client.close()
      await server.close()
      await harness.destroy()
    }
  })
})
