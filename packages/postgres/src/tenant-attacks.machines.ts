import assert from 'node:assert/strict'
import { createHash } from 'node:crypto'
import { after, afterEach, before, beforeEach, suite, test } from 'node:test'
import type { Client } from 'pg'
import { InspanError } from '@inspan/protocol'
import { RECORD_VERSIONS } from '@inspan/protocol/log'
import type { NewCommand, NewStream } from '@inspan/protocol/store'
import { PostgresStore } from './postgres-store.ts'
import { startPostgres, withClient, type PostgresServer } from './server.fixture.ts'

let server: PostgresServer
let url: string
/** The machines, which see all rows. */
let all: PostgresStore
const bytes = Buffer.from('a secret file')
const hash = createHash('sha256').update(bytes).digest('hex')

before(async () => {
  server = await startPostgres()
  await withClient(await server.emptyDatabase(), async (client) => {
    for (const role of ['acme', 'globex']) await client.query(`CREATE ROLE "${role}" LOGIN`)
  })
})
after(() => server.stop())

beforeEach(async () => {
  url = await server.emptyDatabase()
  all = await PostgresStore.open({ url })
  for (const id of ['acme', 'globex']) await all.setTenant({ resourceId: id, role: id })
  await all.createStream(thread('mine', 'acme'))
  await all.createStream(thread('theirs', 'globex'))
  const fence = { owner: 'o', epoch: (await all.claim('mine', 'o')).epoch }
  const body = { type: 'note', kind: 'info', text: 'secret' } as const
  await all.append({
    stream: 'mine',
    fence,
    records: [{ v: RECORD_VERSIONS.note, stream: 'mine', seq: 1, at: 1, body }],
    blobs: [{ hash, mime: 'text/plain', bytes, seq: 1 }],
  })
})
afterEach(async () => {
  await all.close()
  await server.releaseDatabase(url)
})

function thread(id: string, resourceId: string): NewStream {
  const info = { id, resourceId, title: null, createdAt: 1, updatedAt: 1, hidden: false, metadata: {} }
  return { kind: 'thread', info, headSeq: 0 }
}

let lastCommand = 0
/** A UUIDv7 begins with its time in milliseconds. */
function command(target: string): NewCommand {
  const commandId = `01988c8e-0000-7000-8000-${String(++lastCommand).padStart(12, '0')}`
  const key = { principal: 'p', clientId: 'c', commandId }
  return { key, bodyHash: 'h', target, body: { type: 'submit', prompt: 'steal' }, at: 0x01988c8e0000 }
}

function urlOf(role: string): string {
  return url.replace('inspan@', `${role}@`)
}

/** Globex logs in with a client of its own and sends whatever SQL it likes. */
function asGlobex<T>(work: (client: Client) => Promise<T>): Promise<T> {
  return withClient(urlOf('globex'), work)
}

async function numberOf(stream: string): Promise<number> {
  return withClient(url, async (client) => {
    const { rows } = await client.query('SELECT no FROM harness.streams WHERE id = $1', [stream])
    return Number((rows as { no: string }[])[0]?.no)
  })
}

suite('a tenant that attacks others with SQL of its own', () => {
  test('cannot read the bytes of another tenant by writing a reference to their hash', async () => {
    const own = await numberOf('theirs')
    await asGlobex(async (client) => {
      const refer = 'INSERT INTO harness.blob_refs (stream_no, seq, hash) VALUES ($1, 1, $2)'
      await assert.rejects(client.query(refer, [own, hash]), /permission denied/)
      const keep = 'SELECT harness.keep_blob($1, 1, $2, $3, $4) AS kept'
      for (const given of [null, Buffer.from('x')]) {
        const { rows } = await client.query(keep, [own, hash, 'text/plain', given])
        assert.deepEqual(rows, [{ kept: false }])
      }
      // With the right bytes, it still cannot attach them to a thread that is not its own.
      await assert.rejects(
        client.query(keep, [await numberOf('mine'), hash, 'text/plain', bytes]),
        /row-level security/,
      )
      assert.deepEqual((await client.query('SELECT * FROM harness.blobs')).rows, [])
    })
  })

  test('cannot keep what another tenant deletes by claiming to need it', async () => {
    const [mine, theirs] = [await numberOf('mine'), await numberOf('theirs')]
    await asGlobex(async (client) => {
      const need = 'INSERT INTO harness.needs (by_no, stream_no, from_seq, to_seq) VALUES ($1, $2, 1, 100)'
      await assert.rejects(client.query(need, [theirs, mine]), /row-level security/)
    })
    await all.deleteThread('mine', { owner: 'o', epoch: 1 })
    const left = await withClient(url, (client) => client.query('SELECT * FROM harness.records'))
    assert.deepEqual(left.rows, [])
  })

  test('does not learn whose thread an id is', async () => {
    await asGlobex(async (client) => {
      const { rows } = await client.query(
        `SELECT p.oid::regprocedure::text AS name FROM pg_proc AS p WHERE pronamespace = 'harness'::regnamespace
           AND prosecdef AND prorettype = 'text'::regtype AND pronargs > 0`,
      )
      assert.deepEqual(rows, [], 'a function with the rights of its owner returns a text about its argument')
      const { rows: answers } = await client.query(
        `SELECT harness.is_own('mine') AS other, harness.is_own('theirs') AS own, harness.is_own('none') AS none`,
      )
      assert.deepEqual(answers, [{ other: false, own: true, none: null }])
    })
  })

  test('cannot run code as the owner of the tables by shadowing a type or a table in its temporary schema', async () => {
    await asGlobex(async (client) => {
      await client.query(`
        CREATE FUNCTION pg_temp.strike(anyelement) RETURNS boolean LANGUAGE plpgsql AS $$
          BEGIN RAISE WARNING 'ran as %', current_user; RETURN true; END $$;
        CREATE DOMAIN pg_temp.text AS pg_catalog.text CHECK (pg_temp.strike(VALUE));
        CREATE DOMAIN pg_temp.bytea AS pg_catalog.bytea CHECK (pg_temp.strike(VALUE));
        CREATE TEMPORARY TABLE streams (id pg_catalog.text, resource_id pg_catalog.text);
        CREATE TEMPORARY TABLE tenants (resource_id pg_catalog.text, role name);`)
      const notices: string[] = []
      client.on('notice', ({ message }) => notices.push(message ?? ''))
      const own = await numberOf('theirs')
      await client.query(`INSERT INTO harness.streams (id, kind, head_seq, epoch, format, resource_id)
        VALUES ('new', 'thread', 0, 0, 1, 'globex')`)
      await client.query(`INSERT INTO harness.commands (principal, client_id, command_id, body_hash, target, state, at, body)
        VALUES ('p', 'c', 'd', 'h', 'theirs', 'accepted', 1, '{}')`)
      await client.query('SELECT harness.keep_blob($1, 1, $2, $3, $4)', [own, hash, 'text/plain', bytes])
      await client.query('SELECT harness.drop_blobs($1)', [[hash]])
      await client.query('SELECT harness.drop_strange_commands($1)', ['theirs'])
      await client.query('SELECT harness.is_own($1), harness.tenant()', ['theirs'])
      assert.deepEqual(
        notices.filter((notice) => !notice.includes('globex')),
        [],
      )
    })
  })

  test('cannot have the machines run its code by naming a function like one of Postgres', async () => {
    // Before Postgres 15 everybody may create functions in this schema.
    await withClient(url, (client) => client.query('GRANT CREATE ON SCHEMA public TO PUBLIC'))
    await asGlobex(async (client) => {
      await client.query(`
        CREATE FUNCTION public.cardinality(bigint[]) RETURNS integer LANGUAGE plpgsql AS $$
          BEGIN RAISE EXCEPTION 'ran as %', current_user; END $$;
        CREATE FUNCTION public.hashtextextended(text, integer) RETURNS bigint LANGUAGE plpgsql AS $$
          BEGIN RAISE EXCEPTION 'ran as %', current_user; END $$`)
    })
    const late = await PostgresStore.open({ url })
    try {
      const start = { owner: 'o', records: [], thread: { title: 'made' } }
      await late.createStream({ ...thread('late', 'acme'), start })
      const owner = { id: 'o', host: 'h', pid: 1, startTime: '1', bootId: 'b', until: Date.now() }
      await late.putOwner(owner)
      const membership = await late.join({ owner: 'o', onWake: () => undefined, onLost: () => undefined })
      await late.admitCommand(command('late'))
      const hasBeaten = async (): Promise<boolean> =>
        withClient(url, async (client) => {
          const { rowCount } = await client.query('SELECT FROM harness.owners WHERE beat > 1')
          return rowCount === 1
        })
      while (!(await hasBeaten())) await new Promise((resolve) => setTimeout(resolve, 20))
      await membership.leave()
    } finally {
      await late.close()
      await withClient(url, (client) =>
        client.query(`REVOKE CREATE ON SCHEMA public FROM PUBLIC; DROP FUNCTION public.cardinality(bigint[]);
          DROP FUNCTION public.hashtextextended(text, integer)`),
      )
    }
  })

  test('cannot leave a command in the name of another tenant for a thread that this one will make', async () => {
    await asGlobex(async (client) => {
      const insert = `INSERT INTO harness.commands
        (principal, client_id, command_id, body_hash, target, state, at, body, role)
        VALUES ('p', 'c', 'd', 'h', $1, 'accepted', 1, '{}', 'acme')`
      for (const target of ['theirs', 'later'])
        await assert.rejects(client.query(insert, [target]), /permission denied/)
      await client.query(`INSERT INTO harness.commands (principal, client_id, command_id, body_hash, target, state, at, body)
        VALUES ('p', 'c', 'd', 'h', 'later', 'accepted', 1, '{}')`)
      await assert.rejects(client.query(`UPDATE harness.commands SET role = 'acme'`), /permission denied/)
    })
    await all.createStream(thread('later', 'acme'))
    assert.deepEqual((await all.listCommands({ target: 'later', state: 'accepted' })).items, [])
  })

  test('cannot slip a command into a thread while another tenant is making it', async () => {
    const globex = await PostgresStore.open({ url: urlOf('globex') })
    try {
      for (let round = 0; round < 30; round++) {
        const id = `raced-${round}`
        const [made] = await Promise.allSettled([
          all.createStream(thread(id, 'acme')),
          globex.admitCommand(command(id)),
        ])
        assert.equal(made.status, 'fulfilled')
        assert.deepEqual((await all.listCommands({ target: id, state: 'accepted' })).items, [], id)
      }
    } finally {
      await globex.close()
    }
  })

  test('cannot be given a role that could become one that sees all rows', async () => {
    await withClient(url, async (client) => {
      await client.query(`CREATE ROLE owners_friend LOGIN; GRANT inspan TO owners_friend;
        CREATE ROLE replicator LOGIN REPLICATION; CREATE ROLE creator LOGIN CREATEROLE;
        CREATE ROLE reader LOGIN; GRANT pg_read_server_files TO reader`)
    })
    for (const role of ['owners_friend', 'replicator', 'creator', 'reader']) {
      await assert.rejects(
        all.setTenant({ resourceId: 'sly', role }),
        (error) => InspanError.is(error, 'invalid-input'),
        role,
      )
    }
    assert.ok(!(await all.listTenants()).some(({ resourceId }) => resourceId === 'sly'))
    await withClient(url, (client) => client.query('DROP ROLE owners_friend, replicator, creator, reader'))
  })
})
