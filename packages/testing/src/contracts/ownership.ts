import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { allPages, AT, notes, owner, ownedThread, threadInfo } from './builders.ts'
import { rejection, withStore, type StoreContract } from './subject.ts'

export function ownershipContract(contract: StoreContract): void {
  describe('ownership', () => {
    it(
      'an owner is known until it goes',
      withStore(contract, async (store) => {
        const one = owner('one', { url: 'http://127.0.0.1:1' })
        await store.putOwner(one)
        await store.putOwner(owner('two'))
        assert.deepEqual(await store.getOwner('one'), one)
        assert.equal(await store.heartbeat('one', AT + 5), true)
        assert.deepEqual(await store.getOwner('one'), { ...one, until: AT + 5 })
        // It has left: that has to look the same to processes whose clocks differ.
        assert.equal(await store.heartbeat('one', 0), true)
        assert.deepEqual(await store.getOwner('one'), { ...one, until: 0 })
        assert.equal(await store.heartbeat('nobody', AT), false)
        assert.equal(await store.getOwner('nobody'), null)
        const pages = await allPages((cursor) =>
          store.listOwners({ limit: 1, ...(cursor === undefined ? {} : { cursor }) }),
        )
        assert.deepEqual(
          pages.flat().map((found) => found.id),
          ['one', 'two'],
        )
        await store.removeOwner('one')
        assert.equal(await store.getOwner('one'), null)
      }),
    )

    it(
      'a free stream can be taken by anyone, a held one by nobody else',
      withStore(contract, async (store) => {
        await store.putOwner(owner('a'))
        await store.createStream({ kind: 'thread', info: threadInfo('t'), headSeq: 3 })
        assert.deepEqual(await store.claim('t', 'a'), { status: 'owned', epoch: 1, headSeq: 3 })
        assert.deepEqual(await store.claim('t', 'a'), { status: 'owned', epoch: 1, headSeq: 3 })
        assert.deepEqual(await store.claim('t', 'b'), { status: 'held', epoch: 1, owner: 'a', holder: owner('a') })
        await store.release('t', { owner: 'a', epoch: 1 })
        assert.equal((await store.getStream('t'))?.owner, null)
        assert.deepEqual(await store.claim('t', 'b'), { status: 'owned', epoch: 2, headSeq: 3 })
        assert.deepEqual(await store.claim('t', 'a'), { status: 'held', epoch: 2, owner: 'b', holder: null })
      }),
    )

    it(
      'each claim after a release has an epoch of its own, so that what was sent before it is refused',
      withStore(contract, async (store) => {
        const thread = await ownedThread(store, 't')
        await store.release('t', thread.fence)
        assert.deepEqual(await store.claim('t', 'me'), { status: 'owned', epoch: 2, headSeq: 0 })
        await rejection(thread.append({ records: notes('t', 1, 1) }), 'fenced')
      }),
    )

    it(
      'a release by someone who lost the stream changes nothing',
      withStore(contract, async (store) => {
        await ownedThread(store, 't')
        await store.release('t', { owner: 'me', epoch: 0 })
        await store.release('t', { owner: 'other', epoch: 1 })
        await store.release('nowhere', { owner: 'me', epoch: 1 })
        assert.equal((await store.getStream('t'))?.owner, 'me')
      }),
    )

    it(
      'of several that find an owner dead one takes the stream over',
      withStore(contract, async (store) => {
        const thread = await ownedThread(store, 't')
        await thread.append({ records: notes('t', 1, 1) })
        const claims = await Promise.all(['a', 'b', 'c'].map((id) => store.takeOver('t', id, 1)))
        const won = claims.filter((claim) => claim.status === 'owned')
        assert.deepEqual(won, [{ status: 'owned', epoch: 2, headSeq: 1 }])
        for (const claim of claims) assert.equal(claim.epoch, 2)
        await rejection(thread.append({ records: notes('t', 2, 1) }), 'fenced')
        const winner = (await store.getStream('t'))?.owner ?? ''
        assert.deepEqual(await store.takeOver('t', winner, 1), { status: 'owned', epoch: 2, headSeq: 1 })
        // A process that looked before the take-over and acts after it has seen an owner that is no longer there.
        assert.equal((await store.takeOver('t', 'late', 1)).status, 'held')
        assert.equal((await store.getStream('t'))?.epoch, 2)
        await store.append({ stream: 't', fence: { owner: winner, epoch: 2 }, records: notes('t', 2, 1) })
      }),
    )

    it(
      'an owner that goes frees all its streams',
      withStore(contract, async (store) => {
        await store.putOwner(owner('me'))
        for (let i = 0; i < 5; i++) await ownedThread(store, `t${i}`)
        await store.takeOver('t4', 'other', 1)
        const owned = async (): Promise<string[]> => {
          const pages = await allPages((cursor) =>
            store.listOwned({ owner: 'me', limit: 2, ...(cursor === undefined ? {} : { cursor }) }),
          )
          return pages.flat().map((status) => status.stream)
        }
        assert.deepEqual(await owned(), ['t0', 't1', 't2', 't3'])
        await store.removeOwner('me')
        assert.deepEqual(await owned(), [])
        assert.equal((await store.getStream('t0'))?.owner, null)
        assert.equal((await store.getStream('t4'))?.owner, 'other')
        await rejection(
          store.append({ stream: 't0', fence: { owner: 'me', epoch: 1 }, records: notes('t0', 1, 1) }),
          'fenced',
        )
      }),
    )
  })
}
