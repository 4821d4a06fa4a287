/** What is stored outlives the name of the product, which changed once. */
import assert from 'node:assert/strict'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { Fleet, until } from './fleet/fleet.fixture.ts'
import { startPostgres } from './server.fixture.ts'

test('the name of the product is in no name that a database of several machines stores', async (t) => {
  const server = await startPostgres()
  t.after(() => server.stop())
  const url = await server.emptyDatabase()
  await using fleet = await Fleet.start(url, 1)
  const thread = await fleet.submit('note 3')
  await until(() => fleet.hasEnded(thread))
  const dump = await server.run('pg_dump', '--inserts', '--no-owner', '--no-privileges', url)
  for (const name of ['harness.records', 'harness_jobs.job', thread]) assert.ok(dump.includes(name), name)
  // The folders of this test are in what was said, and the role that it connects as is in the rows that role wrote.
  const names = dump.replaceAll(join(tmpdir(), 'inspan-'), '').replaceAll(`'${new URL(url).username}'`, '')
  const named = names.split('\n').filter((line) => /inspan/i.test(line))
  assert.deepEqual(named, [])
})
