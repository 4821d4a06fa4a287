import assert from 'node:assert/strict'
import { suite, test } from 'node:test'
import { nativeDriver } from '@evener/agent'
import { EvenerError, NO_RULES, type AgentDriver, type RunnableTool } from '@evener/protocol'
import { scriptedModel } from '@evener/testing'
import { createPolicy } from '../../policy/index.ts'
import type { RuntimeAgent, RuntimeAgents } from './active-run.ts'
import { ForeignAgent, says } from '../foreign-agent.fixture.ts'
import { RuntimeBench } from '../runtime-bench.fixture.ts'
import type { ThreadRuntime } from '../thread-runtime.ts'

const ALLOW = { policy: createPolicy({ rules: { ...NO_RULES, tools: { submit_plan: 'allow', note: 'allow' } } }) }

/** A planner that gives the floor to `builder` with a tool, beside another call of the same step. */
function planning(
  builder: { readonly [agentId: string]: RuntimeAgent },
  current: () => ThreadRuntime,
  input?: string,
): { agents: RuntimeAgents; journal: string[] } {
  const journal: string[] = []
  const give: RunnableTool = {
    name: 'submit_plan',
    inputSchema: { type: 'object' },
    execute: async () => {
      await current().handOff({
        agentId: 'builder',
        ...(input === undefined ? {} : { input: [{ id: '0', type: 'text', text: input }] }),
      })
      return { result: 'approved' }
    },
  }
  const note: RunnableTool = {
    name: 'note',
    inputSchema: { type: 'object' },
    execute: async () => {
      await new Promise((resolve) => setImmediate(resolve))
      journal.push('noted')
      return { result: 'noted' }
    },
  }
  const model = scriptedModel([
    {
      toolCalls: [
        { id: 'p', name: 'submit_plan' },
        { id: 'n', name: 'note' },
      ],
    },
  ])
  const planner = { driver: nativeDriver({ id: 'planner', model }), tools: [give, note] }
  return { agents: { planner, ...builder }, journal }
}

suite('another agent takes the floor', () => {
  test('in the same run, when all calls of the step have their results', async () => {
    const builder = new ForeignAgent('builder', [says('Built.')])
    let bench: RuntimeBench | undefined
    const { agents, journal } = planning(
      { builder: { driver: builder } },
      () => bench?.runtime as ThreadRuntime,
      'Build it.',
    )
    await using opened = await RuntimeBench.open(agents, { ...ALLOW })
    bench = opened
    const { done, runId } = await opened.submit('go', { agentId: 'planner' })
    assert.equal(await done, 'complete')
    assert.deepEqual(journal, ['noted'])
    assert.deepEqual(builder.turns[0]?.input, [{ id: '0', type: 'text', text: 'Build it.' }])
    assert.equal(builder.turns[0].runId, runId)
    assert.deepEqual(
      (await opened.bodies('turn.started')).map(({ agentId }) => agentId),
      ['planner', 'builder'],
    )
    assert.deepEqual(
      (await opened.bodies('turn.ended')).map(({ outcome }) => outcome),
      ['complete', 'complete'],
    )
    assert.equal((await opened.bodies('tool-result')).length, 2)
    assert.equal((await opened.bodies('run.ended')).length, 1)
  })

  test('and is told to go on when nothing else is said', async () => {
    const builder = new ForeignAgent('builder', [says('Built.')])
    let bench: RuntimeBench | undefined
    const { agents } = planning({ builder: { driver: builder } }, () => bench?.runtime as ThreadRuntime)
    await using opened = await RuntimeBench.open(agents, { ...ALLOW })
    bench = opened
    await (
      await opened.submit('go', { agentId: 'planner' })
    ).done
    assert.match(JSON.stringify(builder.turns[0]?.input), /Go on with the task/)
  })

  test('and nothing more is heard of a program that goes on until it has heard that it is to stop', async () => {
    const builder = new ForeignAgent('builder', [says('Built.')])
    let bench: RuntimeBench | undefined
    const call = { toolCallId: 'p', toolName: 'plan' } as const
    const planner: AgentDriver = {
      id: 'planner',
      describe: () => builder.describe(),
      open: async () => ({
        async *run() {
          yield { type: 'start' }
          yield { type: 'text-delta', text: 'My plan.' }
          yield { type: 'tool-call', ...call, args: {} }
          await bench?.runtime.handOff({ agentId: 'builder' })
          yield { type: 'tool-result', ...call, result: 'approved' }
          yield { type: 'reasoning-delta', text: 'Now I could' }
          yield { type: 'text-delta', text: 'build it myself.' }
          yield { type: 'finish', finishReason: 'stop' }
        },
        cancel: async () => ({ how: 'clean', calls: [], orphansKilled: 0, queued: [] }),
        close: async () => undefined,
      }),
    }
    await using opened = await RuntimeBench.open({ planner: { driver: planner }, builder: { driver: builder } })
    bench = opened
    const { done } = await opened.submit('go', { agentId: 'planner' })
    assert.equal(await done, 'complete')
    assert.deepEqual(
      (await opened.bodies('text-delta')).map(({ text }) => text),
      ['My plan.', 'Built.'],
    )
    assert.deepEqual(await opened.bodies('reasoning-delta'), [])
  })

  test('also between two of our own, which see the same conversation', async () => {
    const model = scriptedModel([{ text: 'Built.' }])
    const builder = { builder: { driver: nativeDriver({ id: 'builder', model }) } }
    let bench: RuntimeBench | undefined
    const { agents } = planning(builder, () => bench?.runtime as ThreadRuntime)
    await using opened = await RuntimeBench.open(agents, { ...ALLOW })
    bench = opened
    assert.equal(await (await opened.submit('go', { agentId: 'planner' })).done, 'complete')
    assert.match(JSON.stringify(model.requests[0]), /approved/)
    // What another one said last would be taken for the beginning of its own answer.
    assert.match(
      JSON.stringify(model.requests[0]?.prompt),
      /"role":"user","content":[^{]*\{[^{]*Go on with the task[^{]*$/,
    )
  })

  test('and goes on after a crash: the run belongs to who had the floor', async () => {
    const model = scriptedModel([{ toolCalls: [{ id: 'x', name: 'work' }] }, { text: 'Built.' }])
    const work: RunnableTool = {
      name: 'work',
      inputSchema: { type: 'object' },
      execute: async () => ({ result: 'ok' }),
    }
    const builder = { builder: { driver: nativeDriver({ id: 'builder', model }), tools: [work] } }
    let bench: RuntimeBench | undefined
    const { agents } = planning(builder, () => bench?.runtime as ThreadRuntime)
    await using opened = await RuntimeBench.open(agents, { ...ALLOW })
    bench = opened
    const { runId } = await opened.submit('go', { agentId: 'planner' })
    const wait = await opened.wait()
    await opened.restart()
    assert.equal(opened.runtime.state.head.run?.agentId, 'builder')
    await opened.runtime.answer(wait.id, { decision: 'approve' })
    assert.equal(await opened.runtime.run?.done, 'complete')
    assert.equal(opened.runtime.state.head.lastRun?.runId, runId)
  })

  test('only in a run, and only one that exists', async () => {
    const agent = new ForeignAgent('cli', [])
    await using bench = await RuntimeBench.open({ cli: { driver: agent } })
    await assert.rejects(bench.runtime.handOff({ agentId: 'cli' }), (error) => EvenerError.is(error, 'misuse'))
    await assert.rejects(bench.runtime.handOff({ agentId: 'nobody' }), (error) => EvenerError.is(error, 'not-found'))
  })
})
