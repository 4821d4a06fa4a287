import assert from 'node:assert/strict'
import { suite, test } from 'node:test'
import { nativeDriver } from '@inspan/agent'
import { InspanError } from '@inspan/protocol'
import { scriptedModel } from '@inspan/testing'
import { askingBench, STORES } from '../asking-bench.fixture.ts'
import { ThreadRuntime } from '../thread-runtime.ts'
import { boundaryAt } from '../threads/boundaries.ts'
import { ProcessOwner } from '../threads/ownership.ts'
import { forkThread, rewindThread } from '../threads/threads.ts'

const isTaken = (error: unknown): boolean =>
  InspanError.is(error, 'already-exists') && error.message.includes('a run "mine" already')

const mine = { agentId: 'native', runId: 'mine' } as const
const said = { ...mine, parts: [{ id: '0', type: 'text', text: 'again' }] } as const

for (const [place, makeStore] of STORES) {
  suite(`a run whose id is taken is refused, in ${place}`, () => {
    test('by one that is over, however long ago, also after a restart', async () => {
      await using bench = await askingBench([{ text: 'Hi.', repeat: true }], makeStore())
      assert.equal(await (await bench.submit('hi', mine)).done, 'complete')
      await assert.rejects(bench.submit('again', mine), isTaken)
      for (const runId of ['other', undefined]) {
        const more = { agentId: 'native', ...(runId === undefined ? {} : { runId }) }
        assert.equal(await (await bench.submit('and', more)).done, 'complete')
      }
      await assert.rejects(bench.submit('again', mine), isTaken)
      await bench.restart()
      await assert.rejects(bench.submit('again', mine), isTaken)
      await assert.rejects(bench.runtime.followUp(said), isTaken)
      assert.equal((await bench.bodies('run.started')).length, 3)
      assert.equal((await bench.bodies('message.added')).length, 3)
    })

    test('by the only one, whichever way it is sent: nothing is delivered twice', async () => {
      await using bench = await askingBench(
        [{ toolCalls: [{ id: 'c', name: 'look' }] }, { text: 'Done.' }],
        makeStore(),
      )
      const handle = await bench.submit('go', mine)
      const wait = await bench.wait()
      await assert.rejects(bench.submit('go', mine), isTaken)
      await assert.rejects(bench.runtime.steer(said), isTaken)
      await assert.rejects(bench.runtime.followUp(said), isTaken)
      await bench.runtime.answer(wait.id, { decision: 'approve' })
      assert.equal(await handle.done, 'complete')
      assert.equal(bench.runtime.state.head.queue.size, 0)
    })

    test('by one that was rewound: it has run', async () => {
      await using bench = await askingBench([{ text: 'Hi.', repeat: true }], makeStore())
      await (
        await bench.submit('hi', mine)
      ).done
      await (
        await bench.submit('and', { agentId: 'native' })
      ).done
      await bench.runtime.change((log) => rewindThread(bench.store, log, 0))
      await assert.rejects(bench.submit('again', mine), isTaken)
    })

    test('by one that a fork has from its parent', async () => {
      await using bench = await askingBench([{ text: 'Hi.', repeat: true }], makeStore())
      await (
        await bench.submit('hi', mine)
      ).done
      await (
        await bench.submit('and', { agentId: 'native' })
      ).done
      const at = await boundaryAt(bench.store, bench.runtime.state.head.lineage, bench.runtime.state.head.seq)
      const owner = await ProcessOwner.register(bench.store)
      const fork = await forkThread(bench.store, owner, bench.runtime.state, { resourceId: 'test', at })
      const driver = nativeDriver({ id: 'native', model: scriptedModel([{ text: 'Here.' }]) })
      const agents = { native: { driver } }
      const runtime = await ThreadRuntime.open({ store: bench.store, owner, thread: fork.id, agents })
      await assert.rejects(runtime.submit(said), (error) => InspanError.is(error, 'already-exists'))
      assert.equal(await (await runtime.submit({ ...said, runId: 'other' })).done, 'complete')
      await runtime.close()
      await owner.close()
    })

    test('an id that was never used for a run is not refused', async () => {
      const store = makeStore()
      await using bench = await askingBench(
        [{ toolCalls: [{ id: 'c', name: 'look' }] }, { text: 'Done.' }, { text: 'Heard.', repeat: true }],
        store,
      )
      const first = await bench.submit('go', { agentId: 'native', runId: 'first' })
      const wait = await bench.wait()
      await bench.runtime.followUp(said)
      await bench.runtime.answer(wait.id, { decision: 'approve' })
      assert.equal(await first.done, 'complete')
      await bench.runtime.idle()
      const run = await bench.submit('now', mine)
      assert.equal(run.runId, 'mine')
      assert.equal(await run.done, 'complete')
    })
  })
}
