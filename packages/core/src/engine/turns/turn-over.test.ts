import assert from 'node:assert/strict'
import { setImmediate as nextTask } from 'node:timers/promises'
import { suite, test } from 'node:test'
import { createTool } from '@inspan/agent'
import { InspanError, type Part, type StoredMessage } from '@inspan/protocol'
import type { AgentDriver, Host } from '@inspan/protocol/driver'
import type { Append } from '@inspan/protocol/store'
import { MemoryStore } from '@inspan/stores'
import { AgentBench } from '../agent-bench.fixture.ts'
import { ForeignAgent, says, type Act } from '../foreign-agent.fixture.ts'
import { RuntimeBench } from '../runtime-bench.fixture.ts'

const text = (words: string): Part[] => [{ id: '0', type: 'text', text: words }]

const question = (id: string): Parameters<Host['ask']>[0] => ({
  id,
  kind: 'question',
  subject: { agentId: 'cli' },
  description: 'Sure?',
})

function hostOf(agent: ForeignAgent): Host {
  const host = agent.hosts.at(-1)
  if (host === undefined) throw new Error('It was never opened.')
  return host
}

/** An agent that works until `end` is called. */
function busy(): { readonly act: Act; readonly begun: Promise<void>; readonly end: () => void } {
  const begun = Promise.withResolvers<void>()
  const over = Promise.withResolvers<void>()
  const act: Act = async function* (turn, host) {
    begun.resolve()
    await over.promise
    yield* says('Done.')(turn, host)
  }
  return { act, begun: begun.promise, end: over.resolve }
}

/** Calls `onWrite` when a write with such a record begins, and delays it. */
class WatchedStore extends MemoryStore {
  #type: string | undefined
  #onWrite: () => void = () => undefined

  watch(type: string, onWrite: () => void): void {
    this.#type = type
    this.#onWrite = onWrite
  }

  override async append(append: Append): Promise<number> {
    if (append.records.some(({ body }) => body.type === this.#type)) {
      this.#type = undefined
      this.#onWrite()
      for (let task = 0; task < 5; task++) await nextTask()
    }
    return super.append(append)
  }
}

suite('what a program prints when its turn is over', () => {
  test('a question is refused: no run waits for the answer', async () => {
    const agent = new ForeignAgent('cli', [says('Hello.')])
    await using bench = await RuntimeBench.open({ cli: { driver: agent } })
    await (
      await bench.submit('Go.', { agentId: 'cli' })
    ).done
    await assert.rejects(hostOf(agent).ask(question('late')), (error) => InspanError.is(error, 'closed'))
    assert.equal(bench.runtime.state.head.waits.size, 0)
  })

  test('a question is refused also while the end of the run is being written', async () => {
    const store = new WatchedStore()
    const agent = new ForeignAgent('cli', [says('Hello.')])
    await using bench = await RuntimeBench.open({ cli: { driver: agent } }, { store })
    let asked: Promise<unknown> | undefined
    store.watch('run.ended', () => {
      asked = hostOf(agent)
        .ask(question('late'))
        .catch((error: unknown) => error)
    })
    await (
      await bench.submit('Go.', { agentId: 'cli' })
    ).done
    assert.ok(InspanError.is(await asked, 'closed'))
    assert.equal(bench.runtime.state.head.waits.size, 0)
  })

  test('a question of one that is being closed stays with it', async () => {
    const work = busy()
    const agent = new ForeignAgent('cli', [work.act])
    await using bench = await RuntimeBench.open({ cli: { driver: agent } })
    await bench.submit('Go.', { agentId: 'cli' })
    await work.begun
    const closed = bench.runtime.close()
    void hostOf(agent).ask(question('late'))
    await closed
    await bench.restart()
    assert.deepEqual(await bench.bodies('wait.opened'), [])
    assert.equal(bench.runtime.state.head.run, null)
  })

  test('a tool is not carried out for it', async () => {
    const agent = new ForeignAgent('cli', [says('Hello.')], { hostTools: 'mcp' })
    const effects: string[] = []
    const tool = {
      name: 'write',
      inputSchema: { type: 'object' },
      execute: async () => {
        effects.push('written')
        return { result: 'ok' }
      },
    }
    await using bench = await RuntimeBench.open({ cli: { driver: agent, tools: [tool] } })
    await bench.runtime.configure({ yolo: true })
    await (
      await bench.submit('Go.', { agentId: 'cli' })
    ).done
    const call = { toolCallId: 'late', toolName: 'write', args: {} }
    await assert.rejects(Promise.resolve(hostOf(agent).callTool(call)), (error) => InspanError.is(error, 'closed'))
    assert.deepEqual(effects, [])
  })

  test('a process is not noted with the next run', async () => {
    const agent = new ForeignAgent('cli', [says('Hello.')])
    await using bench = await RuntimeBench.open({ cli: { driver: agent } })
    await (
      await bench.submit('Go.', { agentId: 'cli' })
    ).done
    const note = { runTag: 'none', pid: 1, startTime: '1', bootId: 'none' }
    const noted = Promise.resolve(hostOf(agent).noteProcess(note))
    await assert.rejects(noted, (error) => InspanError.is(error, 'closed'))
    assert.deepEqual(await bench.bodies('turn.process'), [])
  })
})

suite('a tool whose start is still being written', () => {
  test('is not carried out when the run is cancelled before that', async () => {
    const effects: string[] = []
    const write = createTool({ id: 'write', description: 'Writes.', execute: () => void effects.push('written') })
    await using bench = await AgentBench.open([{ toolCalls: [{ id: 'c', name: 'write' }] }, { text: 'Done.' }], {
      agent: { tools: [write] },
    })
    const append = bench.store.append.bind(bench.store)
    let cancelled: Promise<unknown> | undefined
    bench.store.append = async (request) => {
      if (request.records.some(({ body }) => body.type === 'call.started')) cancelled = bench.runtime.cancel()
      return append(request)
    }
    const run = await bench.submit('Go.')
    assert.equal(await run.done, 'aborted')
    await cancelled
    assert.deepEqual(effects, [])
    const [result] = await bench.eventsOf('tool-result')
    assert.equal(result?.result, 'The call was aborted.')
  })
})

suite('what is said to a program while it works', () => {
  /** A driver that calls `onSteer` when it is steered. */
  function told(agent: ForeignAgent, onSteer: () => Promise<void>): AgentDriver {
    return {
      port: 1,
      id: agent.id,
      describe: () => agent.describe(),
      open: async (binding, host) => {
        const session = await agent.open(binding, host)
        const steer = async (message: StoredMessage): Promise<'injected' | 'queued'> => {
          await onSteer()
          return (await session.steer?.(message)) ?? 'queued'
        }
        return { ...session, steer }
      },
    }
  }

  test('a message that arrives when the turn was just over is not sent again', async () => {
    const work = busy()
    const agent = new ForeignAgent('cli', [work.act])
    const driver = told(agent, async () => {
      work.end()
      for (let task = 0; task < 10; task++) await nextTask()
    })
    await using bench = await RuntimeBench.open({ cli: { driver } })
    await bench.submit('Go.', { agentId: 'cli' })
    await work.begun
    await bench.submit('Faster.', { agentId: 'cli' })
    await bench.runtime.idle()
    await bench.until(() => agent.steered.length === 1)
    await bench.runtime.idle()
    const said = (await bench.bodies('message.added')).map(({ parts }) => parts[0]?.type === 'text' && parts[0].text)
    assert.deepEqual(said, ['Go.', 'Faster.'])
    assert.equal(agent.turns.length, 1)
    assert.equal(bench.runtime.state.head.queue.size, 0)
  })

  test('comes with the next turn when this one ends before it could be delivered', async () => {
    const work = busy()
    const agent = new ForeignAgent('cli', [work.act, says('And faster.')])
    const gate = Promise.withResolvers<void>()
    const driver: AgentDriver = {
      port: 1,
      id: 'cli',
      describe: () => agent.describe(),
      open: (binding, host) => agent.open(binding, host),
    }
    const store = new WatchedStore()
    await using bench = await RuntimeBench.open({ cli: { driver } }, { store })
    store.watch('queue.added', () => {
      work.end()
      gate.resolve()
    })
    await bench.submit('Go.', { agentId: 'cli' })
    await work.begun
    await bench.submit('Faster.', { agentId: 'cli' })
    await gate.promise
    await bench.runtime.idle()
    assert.deepEqual(agent.steered, [])
    assert.equal(agent.turns.length, 2)
    assert.equal(bench.runtime.state.head.queue.size, 0)
  })

  test('stays queued when the run is cancelled before it was delivered', async () => {
    const agent = new ForeignAgent('cli', [])
    const starting = Promise.withResolvers<void>()
    const driver: AgentDriver = {
      port: 1,
      id: 'cli',
      describe: () => agent.describe(),
      open: async (binding, host) => {
        await starting.promise
        return agent.open(binding, host)
      },
    }
    await using bench = await RuntimeBench.open({ cli: { driver } })
    const run = await bench.submit('Go.', { agentId: 'cli' })
    await bench.runtime.steer({ agentId: 'cli', parts: text('Faster.') })
    const cancelled = bench.runtime.cancel()
    starting.resolve()
    const receipt = await cancelled
    assert.equal(await run.done, 'aborted')
    assert.deepEqual(agent.steered, [])
    assert.equal(receipt.queued.length, 1)
    assert.equal(bench.runtime.state.head.queue.size, 1)
  })
})
