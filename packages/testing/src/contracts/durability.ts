import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { emptyHead, storedHead } from '@inspan/protocol/log'
import { blob, command, notes, owner, ownedThread, waitRow } from './builders.ts'
import type { StoreContract } from './subject.ts'

/** For stores whose data survives closing them. */
export function durabilityContract(contract: StoreContract): void {
  describe('what was written', () => {
    it('is all there after the store was closed and opened again', async () => {
      const subject = await contract.open()
      try {
        const { store, reopen } = subject
        assert.ok(reopen !== undefined, 'a durable store has to be given with `reopen`')
        const { epoch } = store
        const thread = await ownedThread(store, 't', { title: 'kept' })
        await store.putOwner(owner('me'))
        await store.admitCommand(command('c'))
        await thread.say(3)
        await thread.append({
          records: notes('t', 4, 1),
          waits: [waitRow('t', 'w', 4)],
          head: { head: storedHead(emptyHead('t')), reducerVersion: 1 },
          blobs: [blob('kept', 4)],
        })
        const snapshot = async (from: typeof store): Promise<unknown> => ({
          stream: await from.getStream('t'),
          thread: await from.getThread('t'),
          records: await from.readRecords('t', {}),
          messages: await from.listMessages([{ stream: 't', from: 1, to: null }], { order: 'newest' }),
          waits: await from.listWaits({}),
          head: await from.readHead('t', 1),
          command: await from.getCommand(command('c').key),
          owner: await from.getOwner('me'),
          bytes: [...((await from.readBlob(blob('kept', 4).hash))?.bytes ?? [])],
        })
        const before = await snapshot(store)
        const again = await reopen()
        assert.deepEqual(await snapshot(again), before)
        assert.equal(again.epoch, epoch)
        await again.append({ stream: 't', fence: thread.fence, records: notes('t', 5, 1) })
      } finally {
        await subject.close()
      }
    })
  })
}
