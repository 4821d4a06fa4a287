import assert from 'node:assert/strict'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { Agent } from '@inspan/agent'
import { InspanError } from '@inspan/protocol'
import type { Membership } from '@inspan/protocol/store'
import { SpoolFolder } from '@inspan/shell/run'
import { SqliteStore } from '@inspan/stores'
import { scriptedModel } from '@inspan/testing'
import { Harness } from '../harness.ts'

class SharedStore extends SqliteStore {
  async join(): Promise<Membership> {
    return { isDead: () => false, leave: async () => undefined }
  }
}

test('raw output in a folder is refused with a store that machines share: an erasure elsewhere would not reach it', async () => {
  const base = { id: 'h', agent: new Agent({ id: 'agent', model: scriptedModel([]) }), modes: [{ id: 'a' }] }
  const folder = new SpoolFolder(join(tmpdir(), 'inspan-no-such-spool'))
  const remote = { remove: async () => true, removeThread: async () => true }
  await using shared = Object.assign(new SharedStore({ url: ':memory:' }), disposable)
  await using own = Object.assign(new SqliteStore({ url: ':memory:' }), disposable)
  assert.throws(
    () => new Harness({ ...base, storage: shared, spool: folder }),
    (error) => InspanError.is(error, 'unsupported') && /leave out `spool`/.test(error.hint ?? ''),
  )
  await new Harness({ ...base, storage: own, spool: folder }).destroy()
  await new Harness({ ...base, storage: shared, spool: remote }).destroy()
})

const disposable = {
  async [Symbol.asyncDispose](this: SqliteStore): Promise<void> {
    await this.close()
  },
}
