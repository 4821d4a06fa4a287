import assert from 'node:assert/strict'
import { suite, test } from 'node:test'
import { connect } from '@inspan/client'
import { Agent, createTool, Harness } from '@inspan/core'
import { serve } from '@inspan/server'
import { scriptedModel } from '@inspan/testing'
import { until } from '../until.fixture.ts'
import { runSlash, type SlashHost } from './run-slash.ts'

const WRITE = { toolCalls: [{ name: 'write_file', input: { path: 'a.txt' } }] }

/** Commands that no test looks at go nowhere. */
function hostOf(client: SlashHost['client']): SlashHost {
  return { client, send: (command) => void client.send(command), leave: () => undefined, copy: () => undefined }
}

suite('/model', () => {
  test('lists the models that there is a key for, and marks the one that is used', async () => {
    const ids = Array.from({ length: 32 }, (_, index) => `test/${String(index).padStart(2, '0')}`)
    const harness = new Harness({
      id: 'chat',
      agent: new Agent({ id: 'me', model: scriptedModel([]) }),
      modes: [{ id: 'build', defaultModelId: 'test/00' }],
      resolveModel: () => scriptedModel([]),
      customModelCatalogProvider: () => [
        ...ids.map((id) => ({ id, hasApiKey: true })),
        { id: 'test/without', hasApiKey: false },
      ],
    })
    const server = await serve({ harness })
    const client = await connect({ url: server.url, token: server.token })
    try {
      const host = hostOf(client)
      assert.deepEqual((await runSlash('model', '', host)).slice(0, 2), ['* test/00', '  test/01'])
      await runSlash('model', 'test/01', host)
      await until(client, ({ head }) => head.model === 'test/01')
      const listed = await runSlash('model', '', host)
      assert.deepEqual(listed.slice(0, 3), ['  test/00', '* test/01', '  test/02'])
      assert.deepEqual(listed.slice(29), ['  test/29', '  … and 2 more: type a part of the name after /model'])
    } finally {
      await client.close()
      await server.close()
      await harness.destroy()
    }
  })
})

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
      const host = hostOf(client)
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
