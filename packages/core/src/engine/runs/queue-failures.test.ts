import assert from 'node:assert/strict'
import { suite, test } from 'node:test'
import type { Part } from '@inspan/protocol'
import type { Blob } from '@inspan/protocol/store'
import { MemoryStore } from '@inspan/stores'
import { ForeignAgent, says, type Act } from '../foreign-agent.fixture.ts'
import { RuntimeBench } from '../runtime-bench.fixture.ts'
import type { ThreadRuntimeOptions } from '../thread-options.ts'

const text = (words: string): Part[] => [{ id: '0', type: 'text', text: words }]
const LONG = 'and then? '.repeat(100_000)

/** A store whose blobs cannot be read for a while. */
class UnreadableStore extends MemoryStore {
  isUnreadable = true

  override async readBlob(hash: string): Promise<Blob | null> {
    if (this.isUnreadable) throw new Error('The disk does not answer.')
    return super.readBlob(hash)
  }
}

interface Queued {
  readonly agent: ForeignAgent
  readonly bench: RuntimeBench
  /** Ends the run behind which the message is queued. */
  readonly end: () => Promise<unknown>
}

async function queued(words: string, options: Partial<ThreadRuntimeOptions>): Promise<Queued> {
  const over = Promise.withResolvers<void>()
  const first: Act = async function* (...args) {
    await over.promise
    yield* says('First.')(...args)
  }
  const agent = new ForeignAgent('cli', [first, says('Second.'), says('Third.')])
  const bench = await RuntimeBench.open({ cli: { driver: agent } }, options)
  const run = await bench.submit('go', { agentId: 'cli' })
  await bench.runtime.followUp({ agentId: 'cli', parts: text(words) })
  const end = async (): Promise<unknown> => {
    over.resolve()
    await run.done
    return bench.runtime.idle()
  }
  return { agent, bench, end }
}

const heard = ({ turns }: ForeignAgent): string[] =>
  turns.map(({ input }) => (input[0]?.type === 'text' ? input[0].text : ''))

suite('what is queued and cannot be sent', () => {
  for (const [why, words, message] of [
    ['what is to be recorded before a run fails', 'and then?', 'No room for another run.'],
    ['it cannot be read', LONG, 'The disk does not answer.'],
  ] as const) {
    const failing = (): { options: Partial<ThreadRuntimeOptions>; mend: () => void } => {
      const store = new UnreadableStore()
      let isBroken = true
      // Fails only for the queued message, not for the run it is queued behind.
      const beforeRun: ThreadRuntimeOptions['beforeRun'] = ({ head }) => {
        if (isBroken && head.queue.size > 0) throw new Error('No room for another run.')
        return []
      }
      const mend = (): void => {
        isBroken = false
        store.isUnreadable = false
      }
      return { options: words === LONG ? { store } : { beforeRun }, mend }
    }
    const errors = async (bench: RuntimeBench): Promise<string[]> =>
      (await bench.bodies('error')).map(({ error }) => error.message)

    test(`because ${why}: an event reports it, and it stays queued until after the next run`, async () => {
      const { options, mend } = failing()
      const { agent, bench, end } = await queued(words, options)
      await using _ = bench
      await end()
      assert.deepEqual(await errors(bench), [message])
      assert.equal(bench.runtime.state.head.queue.size, 1)
      assert.equal(bench.runtime.state.head.lastRun?.outcome, 'complete')
      mend()
      await (
        await bench.submit('go on', { agentId: 'cli' })
      ).done
      await bench.runtime.idle()
      assert.deepEqual(heard(agent), ['go', 'go on', words])
      assert.equal(bench.runtime.state.head.queue.size, 0)
    })

    test(`because ${why}: the thread opens anyway, and sends it once that is fixed`, async () => {
      const { options, mend } = failing()
      const { agent, bench } = await queued(words, options)
      await using _ = bench
      await bench.restart()
      assert.deepEqual(await errors(bench), [message])
      assert.equal(bench.runtime.state.head.queue.size, 1)
      await bench.runtime.close()
      await bench.restart()
      assert.deepEqual(await errors(bench), [message, message])
      mend()
      await bench.runtime.close()
      await bench.restart()
      await bench.runtime.idle()
      assert.deepEqual(heard(agent), ['go', words])
    })
  }
})
