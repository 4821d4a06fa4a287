import assert from 'node:assert/strict'
import { copyFile, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { describe, it } from 'node:test'
import { fileURLToPath } from 'node:url'
import type { JsonObject, JsonValue } from '@inspan/protocol'
import type { Store } from '@inspan/protocol/store'
import { SqliteStore } from '@inspan/stores'
import { foldGolden, goldenRecordsOf, readGolden } from '../../../test/stores/golden-contents.ts'
import { inTempDir } from '../../../test/stores/temp-dir.ts'
import { inflateMessage } from './blobs.ts'
import { loadState } from './load-state.ts'

/** The path of a database, or of what was read from it, written once by the release with this layout. */
function goldenOf(layout: number, kind: 'db' | 'json'): string {
  return fileURLToPath(new URL(`../../../../stores/src/fixtures/golden-v${layout}.${kind}`, import.meta.url))
}

const TYPES =
  'batch binding.changed binding.removed call.started checkpoint.made child.ended child.started compaction ' +
  'config.changed context.cut erased error file fork ' +
  'message.added message.ended message.started note om.committed queue.added queue.held queue.removed ' +
  'reasoning-delta rewind run.cancelled run.ended run.parked run.resumed run.started step.ended step.started ' +
  'tasks.changed text-delta tool-call tool-result turn.ended turn.process turn.started wait.answered wait.cancelled wait.opened ' +
  'wait.superseded'

/** Optional fields that are easily lost. */
const FIELDS = [
  'run.started/turn/instructions',
  'run.started/turn/output',
  'run.started/turn/budget',
  'run.ended/output',
  'run.ended/error',
  'wait.opened/wait/preconditions',
  'wait.opened/wait/interrupted',
  'wait.opened/wait/subject/judgedAs',
  'wait.answered/answer/remember',
  'call.started/definition',
  'call.started/judgedAs',
  'config.changed/goal/prompt',
  'config.changed/state',
  'queue.added/item/turn',
  'queue.added/item/requestContext',
  'message.added/createdAt',
  'message.added/meta/provider',
  'tool-call/annotations',
  'tool-result/resultRef/preview',
  'rewind/files',
  'file/fileName',
  'file/url',
  'run.started/named',
]

function valueAt(value: JsonValue | undefined, path: readonly string[]): JsonValue | undefined {
  return path.reduce<JsonValue | undefined>(
    (found, key) => (typeof found === 'object' && found !== null ? (found as JsonObject)[key] : undefined),
    value,
  )
}

/** One entry per released layout. */
const LAYOUTS = [1]

for (const layout of LAYOUTS) {
  describe(`a database of layout ${layout}`, () => {
    const withGolden = (test: (store: Store) => Promise<void>): (() => Promise<void>) =>
      inTempDir(async (directory) => {
        const url = join(directory, 'golden.db')
        await copyFile(goldenOf(layout, 'db'), url)
        const store = await SqliteStore.open({ url })
        await test(store)
        await store.close()
      })

    it(
      'gives every type of record, and every field, that existed then',
      withGolden(async (store) => {
        const records = [...(await goldenRecordsOf(store, 'main')), ...(await goldenRecordsOf(store, 'fork'))]
        assert.deepEqual([...new Set(records.map(({ body }) => body.type))].sort(), TYPES.split(' '))
        const missing = FIELDS.filter((field) => {
          const [type, ...path] = field.split('/')
          return !records.some(
            ({ body }) => body.type === type && valueAt(body as unknown as JsonObject, path) !== undefined,
          )
        })
        assert.deepEqual(missing, [])
      }),
    )

    it(
      'gives what it gave then: records, heads, messages, waits, threads, commands and owners',
      withGolden(async (store) => {
        const then = JSON.parse(await readFile(goldenOf(layout, 'json'), 'utf8')) as Record<string, object>
        // Later versions may read more from it, but nothing different.
        assert.partialDeepStrictEqual(await readGolden(store), then)
      }),
    )

    it(
      'opens to what its records fold to, from its stored heads or without them',
      withGolden(async (store) => {
        for (const stream of ['main', 'fork']) {
          const claim = await store.claim(stream, 'me')
          const { state } = await loadState(store, stream, { owner: 'me', epoch: claim.epoch })
          const folded = foldGolden(stream, await goldenRecordsOf(store, stream))
          assert.deepEqual(JSON.parse(JSON.stringify(state.head)), JSON.parse(JSON.stringify(folded.head)))
        }
      }),
    )

    it(
      'has its large values, its memory, and nothing of what was erased in it',
      withGolden(async (store) => {
        const { head } = foldGolden('main', await goldenRecordsOf(store, 'main'))
        assert.deepEqual(
          [head.title, head.titleAt, head.goalAt, head.stateAt.toJSON()],
          ['Golden', 1, 1, { count: 1, draft: 50 }],
        )
        const answer = await store.getMessage(head.lineage, 'm2')
        assert.ok(answer !== null)
        const { parts } = await inflateMessage(store, head.lineage, answer)
        const result = parts.find((part) => part.type === 'tool-result')
        assert.equal(result?.result, 'A long line of the file. '.repeat(1500))
        const memory = await store.readBlob(head.om?.blob ?? '')
        assert.equal(Buffer.from(memory?.bytes ?? []).toString(), 'The user likes short answers.')
        assert.equal(await store.getMessage(head.lineage, 'm3'), null)
        assert.ok(!(await readFile(goldenOf(layout, 'db'))).includes('Secret'))
      }),
    )
  })
}
