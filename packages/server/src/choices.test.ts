/** What a client can choose from, and find, over HTTP. */
import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { connect, type Client } from '@inspan/client'
import { codex } from '@inspan/adapters'
import { ServerBench } from './server.fixture.ts'

async function connected(bench: ServerBench): Promise<Client> {
  return connect({ url: bench.url, token: bench.token })
}

describe('what can be chosen', () => {
  it('modes have names and descriptions, models tell whether there is a key, agents what they can do', async () => {
    const coder = codex({ transport: 'live' })
    await using bench = await ServerBench.start([], {
      harness: {
        modes: [
          { id: 'build', name: 'Build', description: 'Changes files.', defaultModelId: 'house/large' },
          { id: 'code', agent: coder },
        ],
        customModelCatalogProvider: () => [
          { id: 'house/large', provider: 'house', modelName: 'large', hasApiKey: true, contextWindow: 100_000 },
          { id: 'other/small', provider: 'other', modelName: 'small', hasApiKey: false },
        ],
      },
      serve: { folders: ['/srv/one', '/srv/two'] },
    })
    const client = await connected(bench)
    assert.deepEqual(await client.routes.modes(), {
      default: 'build',
      modes: [
        { id: 'build', name: 'Build', description: 'Changes files.', defaultModelId: 'house/large' },
        { id: 'code', name: 'code' },
      ],
    })
    const keys = new Map((await client.routes.models()).map(({ hasApiKey, id }) => [id, hasApiKey]))
    assert.deepEqual([keys.get('house/large'), keys.get('other/small')], [true, false])
    const agents = new Map((await client.routes.agents()).map((agent) => [agent['id'], agent['capabilities']]))
    assert.deepEqual(new Set(agents.keys()), new Set(['agent', 'codex']))
    assert.deepEqual(agents.get('codex'), JSON.parse(JSON.stringify(await coder.describe())))
    assert.equal((agents.get('agent') as { steer?: string }).steer, 'inject')
    assert.deepEqual(await client.routes.folders(), ['/srv/one', '/srv/two'])
    await client.close()
  })

  it('threads are found by their titles, page by page', async () => {
    await using bench = await ServerBench.start([])
    const client = await connected(bench)
    const made: string[] = []
    for (let at = 0; at < 12; at++) {
      made.push((await client.routes.createThread({ title: at % 3 === 0 ? `Plan ${at}` : `Other ${at}` })).id)
    }
    const found = async (search: string, limit: number): Promise<readonly (string | null)[]> => {
      const titles: (string | null)[] = []
      let cursor: string | null | undefined
      while (cursor !== null) {
        const page = await client.routes.threads({ search, limit, ...(cursor === undefined ? {} : { cursor }) })
        titles.push(...page.threads.map(({ title }) => title))
        cursor = page.next
      }
      return titles
    }
    for (const limit of [1, 3, 50]) {
      const titles = await found('pLaN', limit)
      assert.equal(titles.length, 4)
      assert.deepEqual(new Set(titles), new Set(['Plan 0', 'Plan 3', 'Plan 6', 'Plan 9']))
    }
    assert.deepEqual(await found(made[1] ?? '', 50), ['Other 1'], 'by id')
    assert.deepEqual(await found('nothing', 50), [])
    await client.close()
  })

  it('a page of found threads has at most as many as were asked for, wherever they are', async () => {
    await using bench = await ServerBench.start([])
    const client = await connected(bench)
    for (let at = 0; at < 9; at++) await client.routes.createThread({ title: `Plan ${at}` })
    for (let at = 0; at < 6; at++) await client.routes.createThread({ title: `Other ${at}` })
    for (let limit = 1; limit <= 16; limit++) {
      const titles: (string | null)[] = []
      let cursor: string | null | undefined
      while (cursor !== null) {
        const page = await client.routes.threads({ search: 'plan', limit, ...(cursor === undefined ? {} : { cursor }) })
        assert.ok(page.threads.length <= limit, `${page.threads.length} of ${limit}`)
        titles.push(...page.threads.map(({ title }) => title))
        cursor = page.next
      }
      assert.equal(titles.length, 9, `limit ${limit}`)
      assert.equal(new Set(titles).size, 9, `limit ${limit}`)
    }
    await client.close()
  })
})
