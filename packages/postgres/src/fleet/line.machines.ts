import assert from 'node:assert/strict'
import { after, before, suite, test } from 'node:test'
import { startProxy } from '../proxy.fixture.ts'
import { startPostgres, type PostgresServer } from '../server.fixture.ts'
import { DirectLine } from './line.ts'

let server: PostgresServer
before(async () => {
  server = await startPostgres()
})
after(() => server.stop())

suite('a direct line', () => {
  test('carries out a statement that came while it could not connect, however often it failed', async () => {
    const proxy = await startProxy(await server.emptyDatabase())
    const line = new DirectLine({ url: proxy.url, onConnected: async () => undefined, onNotification: () => undefined })
    try {
      assert.deepEqual(await line.query('SELECT 1 AS one'), [{ one: 1 }])
      proxy.refuse(3)
      // Fails as long as the old connection has not quite ended, and then waits for the next one.
      let answer: unknown
      while (answer === undefined) {
        answer = await line.query('SELECT 2 AS two').catch(() => undefined)
        await new Promise((resolve) => setImmediate(resolve))
      }
      assert.deepEqual(answer, [{ two: 2 }])
      assert.equal(proxy.refused(), 3)
    } finally {
      await line.close()
      await proxy.close()
    }
  })

  test('that is closed while it cannot connect leaves no statement waiting', async () => {
    const proxy = await startProxy(await server.emptyDatabase())
    proxy.refuse(Infinity)
    const line = new DirectLine({ url: proxy.url, onConnected: async () => undefined, onNotification: () => undefined })
    try {
      const waiting = assert.rejects(line.query('SELECT 1'), /closed/)
      while (proxy.refused() < 2) await new Promise((resolve) => setTimeout(resolve, 20))
      const late = assert.rejects(line.query('SELECT 2'), /closed/)
      await line.close()
      await Promise.all([waiting, late])
      await assert.rejects(line.query('SELECT 3'), /closed/)
    } finally {
      await proxy.close()
    }
  })
})
