import assert from 'node:assert/strict'
import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { after, before, suite, test } from 'node:test'
import { Agent, Harness } from '@inspan/core'
import { admitCommand, createThread } from '@inspan/core/engine'
import { InspanError } from '@inspan/protocol'
import type { Wait } from '@inspan/protocol'
import { RECORD_VERSIONS } from '@inspan/protocol/log'
import { serve, type InspanServer } from '@inspan/server'
import { scriptedModel } from '@inspan/testing'
import { PostgresStore } from '../postgres-store.ts'
import { startPostgres, withClient, type PostgresServer } from '../server.fixture.ts'
import { Fleet, noneTwice, until, uuid7 } from './fleet.fixture.ts'

let server: PostgresServer
before(async () => {
  server = await startPostgres()
})
after(() => server.stop())

const TOKEN = 'a-token-that-is-long-enough'

suite('what is due at some time', () => {
  test('a wait with a due time wakes its thread in one of the processes, without anybody looking for it', async (t) => {
    const url = await server.emptyDatabase()
    const stores = await Promise.all([PostgresStore.open({ url }), PostgresStore.open({ url })])
    t.after(() => Promise.all(stores.map((store) => store.close())))
    const [first] = stores
    const woken: string[] = []
    for (const [index, store] of stores.entries()) {
      const owner = `owner-${index}`
      await store.putOwner({ id: owner, host: 'h', pid: 1, startTime: '1', bootId: 'b', until: Date.now() + 30_000 })
      await store.join({ owner, onWake: (thread) => woken.push(thread), onLost: () => undefined })
    }
    await createThread(first, { id: 'limited', resourceId: 'r' })
    const fence = { owner: 'owner-0', epoch: (await first.claim('limited', 'owner-0')).epoch }
    const due = Date.now() + 1500
    // As a run writes it that has hit the limit of its provider.
    const wait: Wait = {
      id: 'reset',
      kind: 'limit',
      description: 'until the limit is reset',
      subject: { agentId: 'a' },
      resumable: true,
      openedAt: 1,
      at: Date.now(),
      due,
    }
    const body = { type: 'wait.opened', wait } as const
    await first.append({
      stream: 'limited',
      fence,
      records: [{ v: RECORD_VERSIONS['wait.opened'], stream: 'limited', seq: 1, at: 1, body }],
      waits: [{ stream: 'limited', wait, state: 'pending' }],
    })
    await first.release('limited', fence)
    await until(() => woken.length > 0)
    assert.ok(Date.now() >= due)
    assert.deepEqual(woken, ['limited'])
    const jobs = await withClient(url, async (client) => {
      const { rows } = await client.query(`SELECT start_after FROM harness_jobs.job WHERE name = 'due'`)
      return rows as { start_after: Date }[]
    })
    assert.deepEqual(
      jobs.map(({ start_after: at }) => at.getTime()),
      [due],
    )
  })

  test('commands that nobody carries out wake their thread in one of the processes, and do not need a job each', async (t) => {
    const url = await server.emptyDatabase()
    const stores = await Promise.all([PostgresStore.open({ url }), PostgresStore.open({ url })])
    t.after(() => Promise.all(stores.map((store) => store.close())))
    const woken: string[] = []
    for (const [index, store] of stores.entries()) {
      const owner = `owner-${index}`
      await store.putOwner({ id: owner, host: 'h', pid: 1, startTime: '1', bootId: 'b', until: Date.now() + 30_000 })
      await store.join({ owner, onWake: (thread) => woken.push(thread), onLost: () => undefined })
    }
    const [first, second] = stores
    await createThread(first, { id: 'left', resourceId: 'r' })
    const admit = (store: PostgresStore): Promise<unknown> => {
      const key = { principal: 'p', clientId: 'c', commandId: uuid7() }
      return admitCommand(store, { command: { type: 'submit', prompt: 'Hi' }, key, target: 'left', at: Date.now() })
    }
    // Until the queue is there, a job cannot be sent.
    await first.listSchedules()
    const admittedAt = Date.now()
    const commands = 20
    await Promise.all(Array.from({ length: commands }, (_, index) => admit(index % 2 === 0 ? first : second)))
    await until(() => woken.length > 0)
    // Whoever admitted them has a second to do it.
    assert.ok(Date.now() - admittedAt >= 900, `after ${Date.now() - admittedAt} ms`)
    assert.deepEqual(new Set(woken), new Set(['left']))
    const jobs = await withClient(url, async (client) => {
      const { rows } = await client.query(`SELECT count(*)::int AS n FROM harness_jobs.job WHERE name = 'wake'`)
      return (rows as { n: number }[])[0]?.n ?? 0
    })
    // One, or a few more where it takes seconds to admit them.
    assert.ok(jobs >= 1 && jobs <= commands / 2, `${jobs} jobs`)
  })

  test('jobs that could not be started at first, because the database refused, are used as soon as they can', async (t) => {
    const url = await server.emptyDatabase()
    const store = await PostgresStore.open({ url })
    t.after(() => store.close())
    // What pg-boss does not understand.
    await withClient(url, (client) => client.query('CREATE SCHEMA harness_jobs; CREATE TABLE harness_jobs.version ()'))
    await store.putOwner({ id: 'me', host: 'h', pid: 1, startTime: '1', bootId: 'b', until: Date.now() + 30_000 })
    const woken = Promise.withResolvers<string>()
    const warned = once(process, 'warning') as Promise<[Error]>
    await store.join({ owner: 'me', onWake: woken.resolve, onLost: () => undefined })
    const [{ message }] = await warned
    assert.match(message, /^Jobs on Postgres cannot be used yet: /)
    await assert.rejects(store.listSchedules())
    await withClient(url, (client) => client.query('DROP SCHEMA harness_jobs CASCADE'))
    await createThread(store, { id: 'left', resourceId: 'r' })
    await until(() =>
      store.listSchedules().then(
        () => true,
        () => false,
      ),
    )
    const key = { principal: 'p', clientId: 'c', commandId: uuid7() }
    await admitCommand(store, { command: { type: 'submit', prompt: 'Hi' }, key, target: 'left', at: Date.now() })
    assert.equal(await woken.promise, 'left')
  })

  test('a schedule gives its command once per time to one of the machines, until its thread is gone', async () => {
    const url = await server.emptyDatabase()
    await using fleet = await Fleet.start(url, 2)
    const thread = await fleet.create()
    const schedule = {
      id: 'daily/report',
      thread,
      cron: '* * * * *',
      command: { type: 'submit', prompt: 'note 2' },
    } as const
    await assert.rejects(fleet.store.putSchedule({ ...schedule, thread: 'none' }), (error) =>
      InspanError.is(error, 'not-found'),
    )
    await fleet.store.putSchedule(schedule)
    assert.deepEqual(await fleet.store.listSchedules(), [schedule])
    await until(async () => (await fleet.effects()).length === 2 && (await fleet.hasEnded(thread)))
    noneTwice(await fleet.effects())
    const done = (await fleet.store.listCommands({ target: thread, state: 'done' })).items
    assert.deepEqual(
      done.map(({ key }) => [key.principal, key.clientId]),
      [['schedule', 'daily/report']],
    )
    await fleet.store.removeSchedule('daily/report')
    assert.deepEqual(await fleet.store.listSchedules(), [])
  })

  test('machines delete what a tenant no longer keeps, and find threads whose owner nobody knows', async () => {
    const url = await server.emptyDatabase()
    await using fleet = await Fleet.start(url, 0)
    const orphan = await fleet.submit('note 1')
    await withClient(url, (client) => client.query('UPDATE harness.streams SET owner = $1', ['of nobody']))
    await createThread(fleet.store, { id: 'old', resourceId: 'brief', now: Date.now() - 1000 })
    await fleet.store.setTenant({ resourceId: 'brief', keepMs: 1 })
    await fleet.add()
    await until(() => fleet.hasEnded(orphan))
    await until(async () => (await fleet.store.getThread('old')) === null)
  })

  test('a webhook that one server could not deliver is delivered by another, once', async (t) => {
    const url = await server.emptyDatabase()
    const taken: { id: string; thread: string; type: string }[] = []
    let isOpen = false
    let refused = 0
    const receiver = createServer((request, response) => {
      request
        .setEncoding('utf8')
        .toArray()
        .then(
          (chunks) => {
            if (isOpen) taken.push(JSON.parse(chunks.join('')) as (typeof taken)[number])
            else refused++
            response.writeHead(isOpen ? 204 : 503).end()
          },
          () => undefined,
        )
    })
    receiver.listen(0, '127.0.0.1')
    await once(receiver, 'listening')
    const hook = {
      url: `http://127.0.0.1:${(receiver.address() as AddressInfo).port}/`,
      secret: 'a secret that nobody knows',
    }
    const start = async (): Promise<{ store: PostgresStore; harness: Harness; serving: InspanServer }> => {
      const store = await PostgresStore.open({ url })
      const agent = new Agent({ id: 'agent', model: scriptedModel([{ text: 'Hello' }]) })
      const harness = new Harness({ id: 'hooked', agent, modes: [{ id: 'build' }], storage: store })
      return { store, harness, serving: await serve({ harness, token: TOKEN, webhooks: { hooks: [hook] } }) }
    }
    const stop = async ({ harness, serving, store }: Awaited<ReturnType<typeof start>>): Promise<void> => {
      await serving.close()
      await harness.destroy()
      await store.close()
    }
    const first = await start()
    const second = await start()
    t.after(async () => {
      await stop(first)
      await stop(second)
      receiver.closeAllConnections()
      receiver.close()
    })
    const body = JSON.stringify({ commands: [{ type: 'submit', prompt: 'Hi' }] })
    const headers = { authorization: `Bearer ${TOKEN}`, 'content-type': 'application/json' }
    const answer = await fetch(`${first.serving.url}/v1/commands`, { method: 'POST', headers, body })
    assert.equal(answer.status, 202)
    await until(() => refused > 0)
    await stop(first)
    isOpen = true
    await until(() => taken.length > 0)
    assert.deepEqual(
      taken.map(({ type }) => type),
      ['run-ended'],
    )
    await stop(second)
    assert.equal(taken.length, 1)
  })
})
