import assert from 'node:assert/strict'
import { suite, test } from 'node:test'
import type { Client } from '@inspan/client'
import { InspanError } from '@inspan/protocol'
import { PostgresStore } from '../postgres-store.ts'
import { startProxy } from '../proxy.fixture.ts'
import { startPostgres, withClient } from '../server.fixture.ts'
import { Fleet, noneTwice, until } from './fleet.fixture.ts'

/** The texts that a client shows, without what changes from one machine to the next. */
function texts(client: Client): readonly string[] {
  return client.getState().messages.map(({ content, role }) => `${role}: ${JSON.stringify(content)}`)
}

/** Whether the client shows so many messages, and nothing is being added to them. */
function hasSettled(client: Client, messages: number): boolean {
  const state = client.getState()
  return state.messages.length === messages && state.head.run === null
}

async function say(client: Client, count: number, messages: number): Promise<void> {
  client.send({ type: 'submit', prompt: `say ${count}` })
  await until(() => hasSettled(client, messages))
}

suite('a database that is replaced while machines and clients are at work', () => {
  test('restored from a dump under them: clients start over from what is there, and continue', async () => {
    const server = await startPostgres()
    try {
      const url = await server.emptyDatabase()
      await using fleet = await Fleet.start(url, 0)
      const [one = 0, two = 0] = await fleet.serve(2)
      const thread = await fleet.create()
      const [first, second] = [await fleet.connect(one, thread), await fleet.connect(two, thread)]
      await say(first, 2, 2)
      const dump = await server.run('pg_dump', '--inserts', '--schema=harness', url)
      const before = texts(first)
      await say(second, 3, 4)
      await until(() => texts(first).length === 4)
      const epochBefore = await epochOf(url)
      // In one transaction: nobody sees the tables missing. The dump holds the rows of the machines that are running.
      const statements = dump.replaceAll(/^\\.*$/gm, '')
      await withClient(url, (client) => client.query(`BEGIN; DROP SCHEMA harness CASCADE; ${statements}; COMMIT`))
      // What was said after the dump is gone for everybody.
      await until(() => [first, second].every((client) => texts(client).length === 2))
      assert.deepEqual(texts(first), before)
      assert.deepEqual(texts(second), before)
      assert.notEqual(await epochOf(url), epochBefore)
      await say(first, 4, 4)
      await until(() => hasSettled(second, 4))
      assert.deepEqual(texts(second), texts(first))
      const late = await fleet.connect(two, thread)
      assert.deepEqual(texts(late), texts(first))
    } finally {
      await server.stop()
    }
  })

  test('a standby that lacks the last commits is promoted: clients start over, and runs continue', async () => {
    const server = await startPostgres()
    const url = await server.emptyDatabase()
    const proxy = await startProxy(url)
    try {
      await using fleet = await Fleet.start(proxy.url, 0)
      const [one = 0, two = 0] = await fleet.serve(2)
      const thread = await fleet.create()
      const [first, second] = [await fleet.connect(one, thread), await fleet.connect(two, thread)]
      await say(first, 2, 2)
      const standby = await server.startStandby()
      try {
        await assert.rejects(
          PostgresStore.open({ url: standby.urlOf(url) }),
          (error) => InspanError.is(error, 'read-only') && /Connect to the primary/.test(error.hint ?? ''),
        )
        // A run that is at work when the primary is lost.
        const running = await fleet.submit('note 60')
        await until(async () => (await fleet.effects()).length > 2)
        const before = texts(first)
        await withClient(standby.urlOf(url), async (client) => {
          await client.query(`ALTER SYSTEM SET primary_conninfo = ''`)
          await client.query('SELECT pg_reload_conf()')
          const isReceiving = async (): Promise<boolean> =>
            (await client.query('SELECT FROM pg_stat_wal_receiver')).rowCount !== 0
          await until(async () => !(await isReceiving()))
        })
        await say(second, 3, 4)
        await until(() => texts(first).length === 4)
        proxy.hang()
        await standby.promote()
        proxy.redirect(standby.urlOf(url))
        await until(() => [first, second].every((client) => texts(client).length === 2))
        assert.deepEqual(texts(first), before)
        await say(first, 4, 4)
        await until(() => hasSettled(second, 4))
        assert.deepEqual(texts(second), texts(first))
        await until(() => fleet.hasEnded(running))
        const resumed = await fleet.resumptions(running)
        assert.deepEqual(new Set(resumed), new Set(['takeover 1']), `${resumed.length} resumptions`)
        await until(() => fleet.hasEnded(thread))
      } finally {
        await standby.stop()
      }
    } finally {
      await proxy.close()
      await server.stop()
    }
  })
})

suite('a database that is restarted under machines at work', () => {
  test('runs of the only machine go on when it is back, without having used up an attempt', async () => {
    const server = await startPostgres()
    try {
      await using fleet = await Fleet.start(await server.emptyDatabase(), 1)
      const threads = await Promise.all([1, 2, 3].map(() => fleet.submit('note 40')))
      await until(async () => (await fleet.effects()).length > 10)
      await server.restart(async () => undefined)
      for (const thread of threads) await until(() => fleet.hasEnded(thread))
      noneTwice(await fleet.effects())
      for (const thread of threads) {
        const resumed = await fleet.resumptions(thread)
        assert.ok(
          resumed.every((each) => each.endsWith(' 1')),
          resumed.join(', '),
        )
      }
    } finally {
      await server.stop()
    }
  })

  test('a run whose machine died meanwhile continues elsewhere, without having used up an attempt', async () => {
    const server = await startPostgres()
    try {
      await using fleet = await Fleet.start(await server.emptyDatabase(), 3)
      const thread = await fleet.submit('note 40')
      const begin = async (): Promise<number> => {
        const before = (await fleet.effects()).length
        await until(async () => (await fleet.effects()).length > before + 2)
        const owner = await fleet.ownerOf(thread)
        assert.ok(owner !== undefined)
        return owner
      }
      const first = await begin()
      await server.restart(() => fleet.kill(first))
      await fleet.isTakenFrom(thread, first)
      // The next one dies of something else.
      const second = await begin()
      await fleet.kill(second)
      await until(() => fleet.hasEnded(thread))
      assert.deepEqual(await fleet.resumptions(thread), ['takeover 1', 'crash 2'])
      noneTwice(await fleet.effects())
    } finally {
      await server.stop()
    }
  })
})

async function epochOf(url: string): Promise<string | undefined> {
  return withClient(url, async (client) => {
    const { rows } = await client.query(`SELECT value FROM harness.meta WHERE name = 'epoch'`)
    return (rows as { value: string }[])[0]?.value
  })
}
