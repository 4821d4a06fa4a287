import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { allPages, AT, command, notes, ownedThread } from './builders.ts'
import { rejection, withStore, type StoreContract } from './subject.ts'

export function commandsContract(contract: StoreContract): void {
  describe('commands', () => {
    it(
      'the first admission is the receipt; the same again is a duplicate, another body a conflict',
      withStore(contract, async (store) => {
        const sent = command('c', { body: { say: 'hello 👍🏽 \ud83d' } })
        const accepted = await store.admitCommand(sent)
        const row = { ...sent, state: 'accepted', outcome: null, seq: null }
        assert.deepEqual(accepted, { status: 'accepted', command: row })
        assert.deepEqual(await store.admitCommand({ ...sent, at: AT + 9 }), { status: 'duplicate', command: row })
        assert.deepEqual(await store.admitCommand({ ...sent, bodyHash: 'other' }), { status: 'conflict', command: row })
        assert.deepEqual(await store.getCommand(sent.key), row)
        const others = [
          { ...sent.key, principal: 'p2' },
          { ...sent.key, clientId: 'c2' },
          { ...sent.key, commandId: 'd' },
        ]
        for (const key of others) {
          assert.equal(await store.getCommand(key), null)
          assert.equal((await store.admitCommand({ ...sent, key })).status, 'accepted')
        }
      }),
    )

    it(
      'outcome and effects are written together, once, and the body goes',
      withStore(contract, async (store) => {
        const thread = await ownedThread(store, 't')
        const { key } = command('c')
        await store.admitCommand(command('c'))
        const carryOut = (): Promise<number> =>
          thread.append({ records: notes('t', thread.head + 1, 2), outcomes: [{ key, outcome: { ok: true } }] })
        await carryOut()
        const done = { ...command('c'), state: 'done', body: null, outcome: { ok: true }, seq: 2 }
        assert.deepEqual(await store.getCommand(key), done)
        await rejection(carryOut(), 'conflict')
        assert.equal((await store.getStream('t'))?.headSeq, 2)
        assert.deepEqual(await store.admitCommand(command('c')), { status: 'duplicate', command: done })
      }),
    )

    it(
      'a command that changed no stream can be settled too',
      withStore(contract, async (store) => {
        await store.admitCommand(command('c'))
        const { key } = command('c')
        assert.equal(await store.settleCommand({ key, outcome: { refused: 'why' } }), true)
        assert.equal(await store.settleCommand({ key, outcome: 'again' }), false)
        const row = await store.getCommand(key)
        assert.deepEqual(row, { ...command('c'), state: 'done', body: null, outcome: { refused: 'why' }, seq: null })
        await rejection(store.settleCommand({ key: command('unknown').key, outcome: null }), 'not-found')
      }),
    )

    it(
      'commands are listed by target and state in the order they came',
      withStore(contract, async (store) => {
        for (let i = 0; i < 5; i++) await store.admitCommand(command(`c${i}`, { at: AT - i }))
        await store.admitCommand(command('elsewhere', { target: 'other' }))
        await store.settleCommand({ key: command('c1').key, outcome: null })
        const list = async (state: 'accepted' | 'done'): Promise<string[]> => {
          const pages = await allPages((cursor) =>
            store.listCommands({ target: 't', state, limit: 2, ...(cursor === undefined ? {} : { cursor }) }),
          )
          return pages.flat().map((row) => row.key.commandId)
        }
        assert.deepEqual(await list('accepted'), ['c0', 'c2', 'c3', 'c4'])
        assert.deepEqual(await list('done'), ['c1'])
      }),
    )

    it(
      'pruning removes what is old and done, and nothing that still waits',
      withStore(contract, async (store) => {
        for (let i = 0; i < 4; i++) await store.admitCommand(command(`c${i}`, { at: AT + i }))
        for (const id of ['c0', 'c1', 'c3']) await store.settleCommand({ key: command(id).key, outcome: null })
        assert.equal(await store.pruneCommands(AT + 2), 2)
        assert.equal(await store.pruneCommands(AT + 2), 0)
        const left = await Promise.all(['c0', 'c1', 'c2', 'c3'].map((id) => store.getCommand(command(id).key)))
        assert.deepEqual(
          left.map((row) => row?.state ?? null),
          [null, null, 'accepted', 'done'],
        )
        assert.equal((await store.admitCommand(command('c0'))).status, 'accepted')
      }),
    )

    it(
      'of many admissions of one command at once exactly one is the first',
      withStore(contract, async (store) => {
        const admissions = await Promise.all(Array.from({ length: 20 }, () => store.admitCommand(command('c'))))
        assert.equal(admissions.filter((admission) => admission.status === 'accepted').length, 1)
        assert.equal(admissions.filter((admission) => admission.status === 'duplicate').length, 19)
      }),
    )
  })
}
