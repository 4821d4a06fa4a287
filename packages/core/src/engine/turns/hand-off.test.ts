import assert from 'node:assert/strict'
import { suite, test } from 'node:test'
import { nativeDriver } from '@inspan/agent'
import { InspanError, NO_RULES } from '@inspan/protocol'
import type { AgentDriver, RunnableTool } from '@inspan/protocol/driver'
import { scriptedModel } from '@inspan/testing'
import { createPolicy } from '../../policy/index.ts'
import type { RuntimeAgent, RuntimeAgents } from './active-run.ts'
import { ForeignAgent, says } from '../foreign-agent.fixture.ts'
import { RuntimeBench } from '../runtime-bench.fixture.ts'
import type { ThreadRuntimeOptions } from '../thread-options.ts'
import type { ThreadRuntime } from '../thread-runtime.ts'

const ALLOW = { policy: createPolicy({ rules: { ...NO_RULES, tools: { submit_plan: 'allow', note: 'allow' } } }) }

/** Rules under which the other call of the step has to be approved. */
const NOTE_ASKS = { policy: createPolicy({ rules: { ...NO_RULES, tools: { submit_plan: 'allow' } } }) }

/** A planner that hands off to `builder` with a tool, beside another call of the same step. */
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

/** Opens a thread whose planner hands over to the builder, and which has a journal of what its tools did. */
async function openPlanning(
  builder: { readonly [agentId: string]: RuntimeAgent },
  options: Partial<ThreadRuntimeOptions>,
  input?: string,
): Promise<RuntimeBench & { readonly journal: string[] }> {
  let bench: RuntimeBench | undefined
  const { agents, journal } = planning(builder, () => bench?.runtime as ThreadRuntime, input)
  bench = await RuntimeBench.open(agents, options)
  return Object.assign(bench, { journal })
}

suite('another agent takes over', () => {
  test('in the same run, when all calls of the step have their results', async () => {
    const builder = new ForeignAgent('builder', [says('Built.')])
    await using opened = await openPlanning({ builder: { driver: builder } }, { ...ALLOW }, 'Build it.')
    const { done, runId } = await opened.submit('go', { agentId: 'planner' })
    assert.equal(await done, 'complete')
    assert.deepEqual(opened.journal, ['noted'])
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

  test('the next agent gets the task to continue if nothing else is given', async () => {
    const builder = new ForeignAgent('builder', [says('Built.')])
    await using opened = await openPlanning({ builder: { driver: builder } }, { ...ALLOW })
    await (
      await opened.submit('go', { agentId: 'planner' })
    ).done
    assert.match(JSON.stringify(builder.turns[0]?.input), /Go on with the task/)
  })

  test('output of a program that ignores its end is dropped', async () => {
    const builder = new ForeignAgent('builder', [says('Built.')])
    let bench: RuntimeBench | undefined
    const call = { toolCallId: 'p', toolName: 'plan' } as const
    const planner: AgentDriver = {
      port: 1,
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

  test('another agent takes over also between two of our own, which see the same conversation', async () => {
    const model = scriptedModel([{ text: 'Built.' }])
    const builder = { builder: { driver: nativeDriver({ id: 'builder', model }) } }
    await using opened = await openPlanning(builder, { ...ALLOW })
    assert.equal(await (await opened.submit('go', { agentId: 'planner' })).done, 'complete')
    assert.match(JSON.stringify(model.requests[0]), /approved/)
    // The model would take another agent's last words for the beginning of its own answer.
    assert.match(
      JSON.stringify(model.requests[0]?.prompt),
      /"role":"user","content":[^{]*\{[^{]*Go on with the task[^{]*$/,
    )
  })

  test('after a crash the run belongs to the agent that was working', async () => {
    const model = scriptedModel([{ toolCalls: [{ id: 'x', name: 'work' }] }, { text: 'Built.' }])
    const work: RunnableTool = {
      name: 'work',
      inputSchema: { type: 'object' },
      execute: async () => ({ result: 'ok' }),
    }
    const builder = { builder: { driver: nativeDriver({ id: 'builder', model }), tools: [work] } }
    await using opened = await openPlanning(builder, { ...ALLOW })
    const { runId } = await opened.submit('go', { agentId: 'planner' })
    const wait = await opened.wait()
    await opened.restart()
    assert.equal(opened.runtime.state.head.run?.agentId, 'builder')
    await opened.runtime.answer(wait.id, { decision: 'approve' })
    assert.equal(await opened.runtime.run?.done, 'complete')
    assert.equal(opened.runtime.state.head.lastRun?.runId, runId)
  })

  test('another agent takes over also if this process dies while another call of the step waits', async () => {
    const builder = new ForeignAgent('builder', [says('Built.')])
    await using opened = await openPlanning({ builder: { driver: builder } }, { ...NOTE_ASKS }, 'Build it.')
    const { runId } = await opened.submit('go', { agentId: 'planner' })
    const wait = await opened.wait()
    await opened.until(() => opened.runtime.state.head.run?.status === 'parked')
    await opened.restart()
    await opened.restart()
    await opened.runtime.answer(wait.id, { decision: 'approve' })
    assert.equal(await opened.runtime.outcome(runId), 'complete')
    assert.deepEqual(opened.journal, ['noted'])
    assert.deepEqual(
      builder.turns.map(({ input }) => input),
      [[{ id: '0', type: 'text', text: 'Build it.' }]],
    )
    assert.equal(opened.runtime.state.head.queue.size, 0)
  })

  test('another agent takes over also if the thread is released while another call of the step waits', async () => {
    const builder = new ForeignAgent('builder', [says('Built.')])
    await using opened = await openPlanning({ builder: { driver: builder } }, { ...NOTE_ASKS, passivateAfter: 1 })
    const { runId } = await opened.submit('go', { agentId: 'planner' })
    const wait = await opened.wait()
    await opened.until(() => !opened.runtime.isHeld)
    await opened.runtime.answer(wait.id, { decision: 'approve' })
    assert.equal(await opened.runtime.outcome(runId), 'complete')
    assert.equal(builder.turns.length, 1)
  })

  test('another agent takes over also if the program that handed over dies with us: its calls are in doubt, and nobody is asked twice', async () => {
    const builder = new ForeignAgent('builder', [says('Built.')])
    let bench: RuntimeBench | undefined
    const given = Promise.withResolvers<void>()
    const planner = new ForeignAgent('planner', [
      async function* () {
        yield { type: 'step-start', stepIndex: 0 }
        yield { type: 'tool-call', toolCallId: 'p', toolName: 'plan', args: {} }
        await bench?.runtime.handOff({ agentId: 'builder' })
        given.resolve()
        await new Promise(() => undefined)
      },
    ])
    await using opened = await RuntimeBench.open({ planner: { driver: planner }, builder: { driver: builder } })
    bench = opened
    const { runId } = await opened.submit('go', { agentId: 'planner' })
    await given.promise
    await opened.restart()
    assert.equal(await opened.runtime.outcome(runId), 'complete')
    assert.equal(planner.turns.length, 1)
    assert.match(JSON.stringify(builder.turns[0]?.input), /Go on with the task/)
    assert.deepEqual(
      (await opened.bodies('turn.ended')).map(({ outcome }) => outcome),
      ['interrupted', 'complete'],
    )
    assert.deepEqual(
      (await opened.bodies('tool-result')).map(({ outcome }) => outcome),
      ['in-doubt'],
    )
  })

  test('a cancel ends the hand-off and leaves nothing of it', async () => {
    const builder = new ForeignAgent('builder', [says('Built.')])
    await using opened = await openPlanning({ builder: { driver: builder } }, { ...NOTE_ASKS })
    await opened.submit('go', { agentId: 'planner' })
    await opened.until(() => opened.runtime.state.head.run?.status === 'parked')
    assert.equal(opened.runtime.state.head.queue.size, 1)
    const receipt = await opened.runtime.cancel()
    assert.deepEqual(receipt.queued, [])
    assert.equal(opened.runtime.state.head.queue.size, 0)
    await opened.restart()
    assert.deepEqual(builder.turns, [])
  })

  test('the hand-off is recorded after redaction', async () => {
    const builder = new ForeignAgent('builder', [says('Built.')])
    let bench: RuntimeBench | undefined
    const { agents } = planning(
      { builder: { driver: builder } },
      () => bench?.runtime as ThreadRuntime,
      'Use the key s3cret.',
    )
    const redact = (text: string): string => text.replaceAll('s3cret', '[redacted]')
    await using opened = await RuntimeBench.open(agents, { ...ALLOW, redact })
    bench = opened
    assert.equal(await (await opened.submit('go', { agentId: 'planner' })).done, 'complete')
    assert.doesNotMatch(JSON.stringify(await opened.records()), /s3cret/)
    assert.match(JSON.stringify(builder.turns[0]?.input), /s3cret/)
  })

  test('another agent takes over only in a run, and only if it exists', async () => {
    const agent = new ForeignAgent('cli', [])
    await using bench = await RuntimeBench.open({ cli: { driver: agent } })
    await assert.rejects(bench.runtime.handOff({ agentId: 'cli' }), (error) => InspanError.is(error, 'misuse'))
    await assert.rejects(bench.runtime.handOff({ agentId: 'nobody' }), (error) => InspanError.is(error, 'not-found'))
  })
})
