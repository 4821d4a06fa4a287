import assert from 'node:assert/strict'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { suite, test } from 'node:test'
import type { Claim, CommandKey, Store } from '@inspan/protocol/store'
import { SqliteStore } from '@inspan/stores'
import { timeOrderedId } from '../../common/time-ordered-id.ts'
import { admitCommand, createThread, recordsAfter } from '../../engine/index.ts'
import { HarnessBench } from '../harness.fixture.ts'

/** Stops at `place` of the work on a thread until it may go on. */
class GatedStore extends SqliteStore {
  readonly isThere = Promise.withResolvers<void>()
  readonly mayGoOn = Promise.withResolvers<void>()
  readonly place: 'claim' | 'command'

  constructor(url: string, place: 'claim' | 'command') {
    super({ url })
    this.place = place
  }

  override async claim(stream: string, owner: string): Promise<Claim> {
    if (stream === 'thread') await this.#stop('claim')
    return super.claim(stream, owner)
  }

  override async getCommand(key: CommandKey): ReturnType<Store['getCommand']> {
    await this.#stop('command')
    return super.getCommand(key)
  }

  async #stop(place: 'claim' | 'command'): Promise<void> {
    if (this.place !== place) return
    this.isThere.resolve()
    await this.mayGoOn.promise
  }
}

suite('a harness that is drained', () => {
  for (const place of ['claim', 'command'] as const) {
    test(`leaves a run to other processes that begins while it drains, at the ${place}`, async () => {
      await using stack = new AsyncDisposableStack()
      const folder = await mkdtemp(join(tmpdir(), 'inspan-drain-'))
      stack.defer(() => rm(folder, { recursive: true, force: true }))
      const url = join(folder, 'data.db')
      const store = new GatedStore(url, place)
      await store.open()
      stack.defer(() => store.close())
      const first = stack.use(new HarnessBench([{ text: 'Here.' }], { id: 'ops', storage: store }, { id: 'me' }))
      await first.harness.init()
      await createThread(store, { id: 'thread', resourceId: first.harness.session.identity.getResourceId() })
      const key = { principal: 'ann', clientId: 'page', commandId: timeOrderedId() }
      const command = { type: 'submit', prompt: 'Go.' } as const
      await admitCommand(store, { command, key, target: 'thread', at: Date.now() - 5000 })
      await store.isThere.promise
      const drained = first.harness.drain()
      store.mayGoOn.resolve()
      await drained

      const types: string[] = []
      for await (const { body } of recordsAfter(store, 'thread', 0)) types.push(body.type)
      // Whoever finds this process gone goes on with the run.
      assert.ok(types.includes('run.started'))
      assert.ok(!types.includes('run.ended'))
    })
  }
})
