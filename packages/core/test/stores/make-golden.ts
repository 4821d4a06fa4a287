// Makes the golden database of the present layout, and beside it what it has to give:
// `node packages/core/test/stores/make-golden.ts <file>`.
// The files of a release are never made again: the point is that what that release wrote can still be read.
import { existsSync, writeFileSync } from 'node:fs'
import { RECORD_VERSIONS, type RecordBody } from '@inspan/protocol/log'
import { SqliteStore } from '@inspan/stores'
import { blobOf } from '../../src/engine/log/blobs.ts'
import { eraseRange } from '../../src/engine/erase/erase.ts'
import { ThreadLog } from '../../src/engine/log/thread-log.ts'
import { readGolden } from './golden-contents.ts'
import {
  GOLDEN_ERASED,
  GOLDEN_FORKED,
  GOLDEN_MAIN,
  GOLDEN_MEMORY,
  GOLDEN_OPEN,
  goldenFork,
  type GoldenStep,
} from './golden-records.ts'

const [file] = process.argv.slice(2)
if (file === undefined || existsSync(file)) throw new Error('Give the name of a file that does not exist yet.')

const OWNER = 'maker'
const info = {
  resourceId: 'golden',
  createdAt: 1_000_000,
  updatedAt: 1_000_000,
  hidden: false,
  metadata: { made: 'by hand' },
}
const store = await SqliteStore.open({ url: file })
let clock = 1_000_000
const now = (): number => ++clock

await store.createStream({ kind: 'thread', headSeq: 0, info: { ...info, id: 'main', title: null } })
const main = await open('main')
const memory = blobOf(Buffer.from(GOLDEN_MEMORY), 'text/plain').blob
for (const step of GOLDEN_MAIN) await write(main, step)
const said = main.state.head.seq + 1
await write(main, GOLDEN_ERASED)
await eraseRange(store, main, { from: said, to: said, reason: 'asked for' })
const forkAt = await endOf('m2')
await store.createStream({
  kind: 'thread',
  headSeq: forkAt,
  info: { ...info, id: 'fork', title: null, forkedFrom: { thread: 'main', at: forkAt } },
  start: {
    owner: OWNER,
    records: [{ v: RECORD_VERSIONS.fork, stream: 'fork', seq: forkAt + 1, at: now(), body: goldenFork(forkAt) }],
  },
})
const fork = await open('fork')
await write(fork, GOLDEN_FORKED)
await write(main, GOLDEN_OPEN)
await main.close()
await fork.close()
for (const log of [main, fork]) await store.release(log.stream, log.fence)
const key = { principal: 'user-1', clientId: 'client', commandId: '0000000f-4240-7000-8000-000000000000' }
await store.admitCommand({ key, bodyHash: 'hash', target: 'main', body: { type: 'submit' }, at: 1_000_000 })
await store.putOwner({ id: OWNER, host: 'host', pid: 1, startTime: '1', bootId: 'boot', until: 1_000_000 })
await store.compact()
writeFileSync(file.replace(/\.db$/, '.json'), `${JSON.stringify(await readGolden(store), null, 2)}\n`)
await store.close()

async function open(stream: string): Promise<ThreadLog> {
  const { epoch } = await store.claim(stream, OWNER)
  return ThreadLog.open({ store, stream, fence: { owner: OWNER, epoch }, now })
}

/** Memory is kept as a blob, and an open part is written as it comes. */
async function write(log: ThreadLog, { bodies, run }: GoldenStep): Promise<void> {
  const origin = { by: 'user-1', cause: 'command', ...(run === undefined ? {} : { run }) }
  for (const body of bodies) {
    if (body.type === 'batch') log.delta(body.event, origin)
    else await log.commit([body], origin, { blobs: isMemory(body) ? [memory] : [] })
  }
  await log.flush()
}

function isMemory(body: RecordBody): boolean {
  return body.type === 'om.committed'
}

async function endOf(messageId: string): Promise<number> {
  const { items } = await store.readRecords('main', { limit: 1000 })
  const end = items.find(({ body }) => body.type === 'message.ended' && body.messageId === messageId)
  if (end === undefined) throw new Error(`${messageId} has no end.`)
  return end.seq
}
