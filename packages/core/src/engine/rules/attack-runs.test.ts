import assert from 'node:assert/strict'
import { suite, test } from 'node:test'
import { nativeDriver } from '@inspan/agent'
import { InspanError, NO_RULES, type AgentEvent, type PermissionRules } from '@inspan/protocol'
import type { RunnableTool } from '@inspan/protocol/driver'
import { scriptedModel } from '@inspan/testing'
import { createPolicy } from '../../policy/index.ts'
import type { RuntimeAgents } from '../turns/active-run.ts'
import { callOf, ForeignAgent, type Act } from '../foreign-agent.fixture.ts'
import { ProcessOwner } from '../threads/ownership.ts'
import { RuntimeBench } from '../runtime-bench.fixture.ts'
import { ThreadRuntime } from '../thread-runtime.ts'
import { forkThread } from '../threads/threads.ts'

const shell = (policy: 'allow' | 'deny'): PermissionRules => ({
  ...NO_RULES,
  patterns: [{ tool: 'execute_command', pattern: 'rm *', policy }],
})

/** Agents that try to remove something, and a record of what ran. */
function removers(ran: string[]): RuntimeAgents {
  const tool: RunnableTool = {
    name: 'execute_command',
    category: 'execute',
    inputSchema: { type: 'object' },
    execute: async ({ command }) => {
      ran.push(typeof command === 'string' ? command : '')
      return { result: 'ok' }
    },
  }
  const wish = { toolCalls: [{ name: 'execute_command', input: { command: 'rm x' } }] }
  const driver = nativeDriver({ id: 'native', model: scriptedModel([{ text: 'Hi.' }, wish, { text: 'No.' }]) })
  return { native: { driver, tools: [tool] } }
}

suite('a deny', () => {
  test('a deny of a thread holds in the runs of its forks, whatever these are opened with', async () => {
    const ran: string[] = []
    await using bench = await RuntimeBench.open(removers(ran))
    await bench.runtime.configure({ rules: shell('deny') })
    await (
      await bench.submit('Hi', { agentId: 'native' })
    ).done
    const owner = await ProcessOwner.register(bench.store)
    const { seq: at } = (await bench.records()).findLast(({ body }) => body.type === 'message.ended') ?? assert.fail()
    await forkThread(bench.store, owner, bench.runtime.state, { id: 'fork', resourceId: 'test', at })
    const fork = await ThreadRuntime.open({
      store: bench.store,
      owner,
      thread: 'fork',
      agents: removers(ran),
      policy: createPolicy({ rules: shell('allow') }),
    })
    await fork.configure({ yolo: true })
    for (const text of ['Hi', 'Remove it']) {
      const run = await fork.submit({ agentId: 'native', parts: [{ id: '0', type: 'text', text }] })
      assert.equal(await run.done, 'complete')
    }
    assert.deepEqual(ran, [])
    await fork.close()
    await owner.close()
  })

  test('holds for what a subagent of a program does: one that runs is seen, and the program is ended', async () => {
    const act: Act = async function* (): AsyncGenerator<AgentEvent> {
      yield { type: 'step-start', stepIndex: 0 }
      yield { type: 'tool-call', toolCallId: 'task', toolName: 'Task', args: { prompt: 'clean up' } }
      const call = { toolCallId: 'inner', toolName: 'execute_command', parentToolCallId: 'task' } as const
      yield { type: 'tool-call', ...call, args: { command: 'rm -rf x' } }
      yield { type: 'tool-result', ...call, result: 'gone' }
      yield { type: 'tool-call', toolCallId: 'next', toolName: 'execute_command', args: { command: 'ls' } }
    }
    const agent = new ForeignAgent('cli', [act])
    await using bench = await RuntimeBench.open(
      { cli: { driver: agent } },
      { policy: createPolicy({ rules: shell('deny') }) },
    )
    assert.equal(await (await bench.submit('Go', { agentId: 'cli' })).done, 'error')
    const notes = (await bench.bodies('note')).filter(({ kind }) => kind === 'policy-violation')
    assert.deepEqual(
      notes.map(({ data }) => data?.['toolCallId']),
      ['inner'],
    )
    assert.equal(JSON.stringify(await bench.records()).includes('"next"'), false, 'nothing after it')
    assert.equal(agent.closed, 1, 'it does not go on by itself')
  })
})

suite('a question', () => {
  const asking = (agent: () => ForeignAgent, after: (asked: Promise<unknown>) => Promise<void>): Act =>
    async function* (_turn, host) {
      yield { type: 'step-start', stepIndex: 0 }
      const call = callOf(agent, 'make', 'c', host)
      yield (await call.next()).value as AgentEvent
      await after(call.next())
    }

  test('a question of a program that breaks off is cancelled and cannot be answered: silence is no approval', async () => {
    const agent: ForeignAgent = new ForeignAgent('cli', [
      asking(
        () => agent,
        async (asked) => {
          asked.catch(() => undefined)
          await bench.wait()
          throw new Error('the connection is gone')
        },
      ),
    ])
    await using bench = await RuntimeBench.open({ cli: { driver: agent } })
    const run = await bench.submit('Go', { agentId: 'cli' })
    const { id } = await bench.wait()
    assert.equal(await run.done, 'error')
    assert.deepEqual(agent.journal, [])
    assert.deepEqual(
      (await bench.bodies('wait.cancelled')).map(({ waitId }) => waitId),
      [id],
    )
    await assert.rejects(bench.runtime.answer(id, { decision: 'approve' }), (error) =>
      InspanError.is(error, 'conflict'),
    )
    assert.deepEqual(agent.journal, [])
  })

  test('stays when its reader goes away, and when its process releases it', async () => {
    const ran: string[] = []
    await using bench = await RuntimeBench.open(removers(ran), { passivateAfter: 0 })
    await (
      await bench.submit('Hi', { agentId: 'native' })
    ).done
    const leave = bench.runtime.onEntry(() => undefined)
    await bench.submit('Remove it', { agentId: 'native' })
    const { id } = await bench.wait()
    leave()
    await bench.until(() => !bench.runtime.isHeld)
    assert.deepEqual([...bench.runtime.state.head.waits.keys()], [id])
    assert.equal((await bench.store.getWait('thread', id))?.state, 'pending')
    assert.deepEqual(ran, [])
  })

  test('is answered once by a second client in another process, and the first one learns of it', async () => {
    const ran: string[] = []
    await using bench = await RuntimeBench.open(removers(ran), { passivateAfter: 0 })
    await (
      await bench.submit('Hi', { agentId: 'native' })
    ).done
    const run = await bench.submit('Remove it', { agentId: 'native' })
    const { id } = await bench.wait()
    await bench.until(() => !bench.runtime.isHeld)
    const owner = await ProcessOwner.register(bench.store)
    const agents = removers(ran)
    const second = await ThreadRuntime.open({ store: bench.store, owner, thread: 'thread', agents })
    await second.answer(id, { decision: 'approve' }, 'second')
    await second.idle()
    await second.close()
    await owner.close()
    assert.deepEqual(ran, ['rm x'])
    const again = bench.runtime.answer(id, { decision: 'decline' }, 'first')
    await assert.rejects(again, (error) => InspanError.is(error, 'conflict') && error.message.includes('second'))
    assert.equal((await bench.bodies('wait.answered')).length, 1)
    assert.equal(run.runId, bench.runtime.state.head.lastRun?.runId)
    assert.deepEqual(ran, ['rm x'])
  })
})
