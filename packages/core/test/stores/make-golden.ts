// Makes the golden database of the present layout: `node packages/core/test/stores/make-golden.ts <file>`.
// The file of a release is never made again: the point is that what that release wrote can still be read.
import { createHash } from 'node:crypto'
import { existsSync } from 'node:fs'
import { emptyState, reduce, REDUCER_VERSION, storedMessage, type Append, type LogRecord } from '@evener/protocol'
import { SqliteStore } from '../../src/stores/sqlite-store.ts'
import { FORK_AT, FORK_BODIES, GOLDEN_BLOB, goldenRecords, MAIN_BODIES } from './golden-records.ts'

const [file] = process.argv.slice(2)
if (file === undefined || existsSync(file)) throw new Error('Give the name of a file that does not exist yet.')

const store = await SqliteStore.open({ url: file })
const bytes = Buffer.from(GOLDEN_BLOB)
const hash = createHash('sha256').update(bytes).digest('hex')

for (const [id, bodies, base] of [
  ['main', MAIN_BODIES, 0],
  ['fork', FORK_BODIES, FORK_AT],
] as const) {
  const records = goldenRecords(id, bodies, base + 1)
  await store.createStream({
    kind: 'thread',
    info: {
      id,
      resourceId: 'golden',
      title: id === 'main' ? 'Golden' : null,
      createdAt: 1_000_000,
      updatedAt: 1_000_000 + base + records.length,
      hidden: false,
      ...(id === 'fork' ? { forkedFrom: { thread: 'main', at: FORK_AT } } : {}),
      metadata: { made: 'by hand' },
    },
    headSeq: base,
    start: { owner: 'maker', records, ...views(id, records) },
  })
  await store.release(id, { owner: 'maker', epoch: 1 })
}
const key = { principal: 'user-1', clientId: 'client', commandId: '0000000f-4240-7000-8000-000000000000' }
await store.admitCommand({ key, bodyHash: 'hash', target: 'main', body: { type: 'submit' }, at: 1_000_000 })
await store.putOwner({ id: 'maker', host: 'host', pid: 1, startTime: '1', bootId: 'boot', until: 1_000_000 })
await store.close()

function views(stream: string, records: readonly LogRecord[]): Pick<Append, 'messages' | 'waits' | 'head' | 'blobs'> {
  let state = emptyState(stream)
  const messages = new Map<string, ReturnType<typeof storedMessage>>()
  let head = state.head
  for (const record of records) {
    const reduced = reduce(state, record)
    state = reduced.state
    for (const message of reduced.written) messages.set(message.id, storedMessage(message))
    if (record.body.type === 'run.ended' || record.body.type === 'rewind') head = state.head
  }
  messages.delete('m3')
  return {
    messages: [...messages.values()],
    head: { head, reducerVersion: REDUCER_VERSION },
    blobs: records
      .filter(({ body }) => body.type === 'om.committed')
      .map(({ seq }) => ({ hash, mime: 'text/plain', bytes, seq })),
    waits: records.flatMap(({ body, seq, at }) =>
      body.type === 'wait.opened'
        ? [
            {
              stream,
              wait: { ...body.wait, openedAt: seq, at },
              state: body.wait.id === 'wait-1' ? 'answered' : body.wait.id === 'wait-2' ? 'superseded' : 'cancelled',
              settledAt: at + 1,
            } as const,
          ]
        : [],
    ),
  }
}
