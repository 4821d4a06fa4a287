import assert from 'node:assert/strict'
import { suite, test } from 'node:test'
import type { AgentEvent } from './agent-event.ts'
import type { AgentDriver, Turn } from './driver.ts'
import { createHost } from './create-host.ts'
import { streamTurn } from './stream-turn.ts'

const turn: Turn = { turnId: 't', runId: 'r', threadId: 'thread', input: [{ id: '0', type: 'text', text: 'Go.' }] }

const host = createHost()

const SAID: readonly AgentEvent[] = [
  { type: 'text-delta', messageId: 'm', partId: '0', text: 'one' },
  { type: 'text-delta', messageId: 'm', partId: '0', text: 'two' },
  { type: 'finish', finishReason: 'stop' },
]

/** An agent that writes into `done` what happens to its session. */
function agent(done: string[], fault?: 'run' | 'cancel'): AgentDriver {
  return {
    port: 1,
    id: 'a',
    describe: async () => {
      throw new Error('nobody asks')
    },
    open: async (binding) => {
      done.push(`open ${binding?.nativeId ?? 'anew'}`)
      return {
        async *run({ turnId }) {
          done.push(`run ${turnId}`)
          yield* SAID.slice(0, 1)
          if (fault === 'run') throw new Error('broken')
          yield* SAID.slice(1)
        },
        cancel: async () => {
          done.push('cancel')
          if (fault === 'cancel') throw new Error('deaf')
          return { how: 'clean', calls: [], orphansKilled: 0, queued: [] }
        },
        close: async () => void done.push('close'),
      }
    },
  }
}

suite('one turn of an agent', () => {
  test('is opened, run and closed', async () => {
    const done: string[] = []
    assert.deepEqual(await Array.fromAsync(streamTurn(agent(done), turn, host)), SAID)
    assert.deepEqual(done, ['open anew', 'run t', 'close'])
  })

  test('continues the session it is given', async () => {
    const done: string[] = []
    const binding = { agentId: 'a', nativeId: 'n', syncedTo: 0 }
    await Array.fromAsync(streamTurn(agent(done), turn, host, binding))
    assert.equal(done[0], 'open n')
  })

  test('is cancelled when its reader leaves', async () => {
    const done: string[] = []
    for await (const event of streamTurn(agent(done), turn, host)) {
      assert.equal(event.type, 'text-delta')
      break
    }
    assert.deepEqual(done, ['open anew', 'run t', 'cancel', 'close'])
  })

  test('is not cancelled when its reader leaves with the finish', async () => {
    const done: string[] = []
    for await (const event of streamTurn(agent(done), turn, host)) if (event.type === 'finish') break
    assert.deepEqual(done, ['open anew', 'run t', 'close'])
  })

  test('is closed whatever fails', async () => {
    const broken: string[] = []
    await assert.rejects(Array.fromAsync(streamTurn(agent(broken, 'run'), turn, host)), /broken/)
    assert.deepEqual(broken.slice(-2), ['cancel', 'close'])

    const deaf: string[] = []
    const stream = streamTurn(agent(deaf, 'cancel'), turn, host)
    await stream.next()
    await assert.rejects(stream.return(), /deaf/)
    assert.equal(deaf.at(-1), 'close')
  })
})
