import assert from 'node:assert/strict'
import { suite, test } from 'node:test'
import { InspanError } from '@inspan/protocol'
import { askingBench, STORES } from '../asking-bench.fixture.ts'

const isTaken = (error: unknown): boolean =>
  InspanError.is(error, 'conflict') && error.message.includes('message hello')

const asked = { agentId: 'native', messageId: 'hello' } as const
const said = { ...asked, parts: [{ id: '0', type: 'text', text: 'again' }] } as const

for (const [place, makeStore] of STORES) {
  suite(`a message whose id is taken is refused, in ${place}`, () => {
    test('by one of an earlier run, also after a restart', async () => {
      await using bench = await askingBench([{ text: 'Hi.' }, { text: 'Other.' }], makeStore())
      await (
        await bench.submit('hi', asked)
      ).done
      await assert.rejects(bench.submit('again', asked), isTaken)
      await bench.restart()
      await assert.rejects(bench.submit('again', asked), isTaken)
      const other = await bench.submit('again', { ...asked, messageId: 'other' })
      assert.equal(await other.done, 'complete')
    })

    test('by one of the run there is, whichever way it is sent', async () => {
      await using bench = await askingBench(
        [{ toolCalls: [{ id: 'c', name: 'look' }] }, { text: 'Done.' }],
        makeStore(),
      )
      const handle = await bench.submit('go', asked)
      const wait = await bench.wait()
      await assert.rejects(bench.submit('again', asked), isTaken)
      await assert.rejects(bench.runtime.steer(said), isTaken)
      await assert.rejects(bench.runtime.followUp(said), isTaken)
      await bench.runtime.answer(wait.id, { decision: 'approve' })
      assert.equal(await handle.done, 'complete')
    })

    test('by one that is still queued', async () => {
      await using bench = await askingBench(
        [{ toolCalls: [{ id: 'c', name: 'look' }] }, { text: 'Done.' }, { text: 'And.' }],
        makeStore(),
      )
      await bench.submit('go', { agentId: 'native' })
      const wait = await bench.wait()
      await bench.runtime.followUp(said)
      await assert.rejects(bench.runtime.followUp(said), isTaken)
      await bench.runtime.answer(wait.id, { decision: 'approve' })
      await bench.runtime.idle()
      assert.equal(bench.runtime.state.head.queue.size, 0)
    })
  })
}
