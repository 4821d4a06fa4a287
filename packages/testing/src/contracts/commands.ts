import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { COMMAND_RETENTION_MS, COMMAND_SKEW_MS } from '@inspan/protocol/store'
import { allPages, AT, command, commandId, notes, ownedThread } from './builders.ts'
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
          { ...sent.key, commandId: commandId('d') },
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
        const ids = (...names: string[]): string[] => names.map((name) => commandId(name))
        assert.deepEqual(await list('accepted'), ids('c0', 'c2', 'c3', 'c4'))
        assert.deepEqual(await list('done'), ids('c1'))
      }),
    )

    it(
      'accepted commands of all targets are listed together in the order they came',
      withStore(contract, async (store) => {
        for (const [index, target] of ['b', 'a', 'b'].entries()) {
          await store.admitCommand(command(`c${index}`, { target }))
        }
        await store.settleCommand({ key: command('c1').key, outcome: null })
        const pages = await allPages((cursor) =>
          store.listCommands({ state: 'accepted', limit: 1, ...(cursor === undefined ? {} : { cursor }) }),
        )
        assert.deepEqual(
          pages.flat().map(({ key }) => key.commandId),
          [commandId('c0'), commandId('c2')],
        )
      }),
    )

    it(
      'failed executions are counted until the command is settled',
      withStore(contract, async (store) => {
        const sent = command('c')
        await store.admitCommand(sent)
        assert.deepEqual([await store.failCommand(sent.key), await store.failCommand(sent.key)], [1, 2])
        assert.equal((await store.getCommand(sent.key))?.state, 'accepted')
        await store.settleCommand({ key: sent.key, outcome: null })
        await rejection(store.failCommand(sent.key), 'not-found')
        await rejection(store.failCommand(command('unknown').key), 'not-found')
      }),
    )

    it(
      'the outcome of a deletion is stored with it, or neither happens',
      withStore(contract, async (store) => {
        const thread = await ownedThread(store, 't')
        const { key } = command('c')
        await rejection(store.deleteThread('t', thread.fence, { key, outcome: 'done' }), 'not-found')
        assert.notEqual(await store.getThread('t'), null)
        await store.admitCommand(command('c'))
        assert.equal((await store.deleteThread('t', thread.fence, { key, outcome: 'done' })).deleted, true)
        assert.deepEqual(await store.getCommand(key), {
          ...command('c'),
          state: 'done',
          body: null,
          outcome: 'done',
          seq: null,
        })
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
        const late = command('c0', { at: AT + COMMAND_RETENTION_MS + 1 })
        assert.deepEqual(await store.admitCommand(late), { status: 'expired' })
      }),
    )

    it(
      'pruning never forgets a command that would be carried out again if it were sent again',
      withStore(contract, async (store) => {
        const now = Date.now()
        const made = now - 60_000
        const fresh = command('fresh', { at: made, key: { ...command('').key, commandId: commandId('fresh', made) } })
        // The sender's clock is ahead: the command was admitted long ago, but may still be sent again for longer.
        const ahead = command('ahead', { key: { ...command('').key, commandId: commandId('ahead', AT + 1000) } })
        for (const sent of [fresh, ahead]) {
          await store.admitCommand(sent)
          await store.settleCommand({ key: sent.key, outcome: null })
        }
        assert.equal(await store.pruneCommands(AT + 1000), 0)
        assert.equal(await store.pruneCommands(now + 1000), 1)
        assert.deepEqual(
          [(await store.getCommand(fresh.key))?.state, await store.getCommand(ahead.key)],
          ['done', null],
        )
      }),
    )

    it(
      'a command older than commands are remembered is expired, never run, and leaves nothing behind',
      withStore(contract, async (store) => {
        const sent = command('old')
        assert.deepEqual(await store.admitCommand({ ...sent, at: AT + COMMAND_RETENTION_MS + 1 }), {
          status: 'expired',
        })
        assert.equal(await store.getCommand(sent.key), null)
        assert.deepEqual((await store.listCommands({ target: 't', state: 'accepted' })).items, [])
        assert.equal((await store.admitCommand({ ...sent, at: AT + COMMAND_RETENTION_MS })).status, 'accepted')
      }),
    )

    it(
      'a command that is still known gets its receipt again, and its conflict, whatever its age',
      withStore(contract, async (store) => {
        const sent = command('c')
        await store.admitCommand(sent)
        await store.settleCommand({ key: sent.key, outcome: { refused: 'why' } })
        const done = { ...sent, state: 'done', body: null, outcome: { refused: 'why' }, seq: null }
        const late = { ...sent, at: AT + 2 * COMMAND_RETENTION_MS }
        assert.deepEqual(await store.admitCommand(late), { status: 'duplicate', command: done })
        const other = { ...late, bodyHash: 'other' }
        assert.deepEqual(await store.admitCommand(other), { status: 'conflict', command: done })
      }),
    )

    it(
      'the clock of a sender may be ahead by a day, not by more',
      withStore(contract, async (store) => {
        const madeAt = (made: number): ReturnType<typeof command> =>
          command('c', { key: { ...command('c').key, commandId: commandId('c', made) } })
        assert.equal((await store.admitCommand(madeAt(AT + COMMAND_SKEW_MS))).status, 'accepted')
        await rejection(store.admitCommand(madeAt(AT + COMMAND_SKEW_MS + 1)), 'invalid-input')
      }),
    )

    it(
      'an id that is no UUIDv7 is refused: nobody could know when it expires',
      withStore(contract, async (store) => {
        const good = commandId('c')
        const bad = ['c', '', good.toUpperCase(), `${good} `, good.replace('-7', '-4'), good.replace(/-8/, '-c')]
        for (const id of bad) {
          const sent = command('c', { key: { ...command('c').key, commandId: id } })
          await rejection(store.admitCommand(sent), 'invalid-input')
        }
        assert.deepEqual((await store.listCommands({ target: 't', state: 'accepted' })).items, [])
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
