import assert from 'node:assert/strict'
import { suite, test } from 'node:test'
import { InspanError, type Answer } from '@inspan/protocol'
import { MemoryStore } from '@inspan/stores'
import { ForeignAgent, says, type Act } from '../../engine/foreign-agent.fixture.ts'
import { HarnessBench } from '../harness.fixture.ts'

const PLAN = '1. Write it.'
const call = { toolCallId: 'p1', toolName: 'ExitPlanMode', args: { plan: PLAN } } as const

/** A program that plans in its own way, asks, and goes on by itself when it is approved. */
function plans(heard: Answer[] = []): Act {
  return async function* (_turn, host) {
    yield { type: 'step-start', stepIndex: 0 }
    yield { type: 'tool-call', ...call }
    const answer = await host.ask({
      id: crypto.randomUUID(),
      kind: 'plan',
      subject: { agentId: 'planner', ...call },
      description: 'A plan was made.',
      payload: { plan: PLAN },
    })
    heard.push(answer)
    yield { type: 'tool-result', toolCallId: call.toolCallId, toolName: call.toolName, result: 'heard' }
    yield { type: 'step-finish', stepIndex: 0, finishReason: 'tool-calls' }
    yield { type: 'step-start', stepIndex: 1 }
    yield { type: 'text-delta', text: 'The planner goes on.' }
    yield { type: 'step-finish', stepIndex: 1, finishReason: 'stop' }
  }
}

function texts(bench: HarnessBench): string[] {
  return bench.all('text').map(({ text }) => text)
}

suite('a plan of a foreign program', () => {
  test('a plan of a foreign program that is approved switches the mode, and the program continues if it can switch as well', async () => {
    const planner = new ForeignAgent('planner', [plans()])
    await using bench = new HarnessBench([], {
      modes: [
        { id: 'plan', agent: planner, transitionsTo: 'build' },
        { id: 'build', agent: planner },
      ],
    })
    await bench.harness.sendMessage({ content: 'Plan.' })
    const [asked] = bench.all('tool_suspended')
    assert.deepEqual([asked?.toolName, asked?.suspendPayload], ['ExitPlanMode', { plan: PLAN }])
    await bench.harness.respondToToolSuspension({ resumeData: { action: 'approved' } })
    assert.equal(bench.harness.session.mode.get(), 'build')
    assert.deepEqual(bench.all('mode_changed'), [{ type: 'mode_changed', modeId: 'build', previousModeId: 'plan' }])
    assert.deepEqual(texts(bench), ['The planner goes on.'])
    assert.deepEqual(
      bench.all('agent_end').map(({ reason }) => reason),
      ['suspended', 'complete'],
    )
  })

  test('a plan of a foreign program that leads to a mode of another agent lets it take over in the same run, with the plan', async () => {
    const planner = new ForeignAgent('planner', [plans()])
    const builder = new ForeignAgent('builder', [says('Built.')])
    await using bench = new HarnessBench([], {
      modes: [
        { id: 'plan', agent: planner, transitionsTo: 'build' },
        { id: 'build', agent: builder },
      ],
    })
    await bench.harness.sendMessage({ content: 'Plan.' })
    const runId = bench.harness.session.getCurrentRunId()
    await bench.harness.respondToToolSuspension({ resumeData: { action: 'approved', feedback: 'Mind the tests.' } })
    assert.equal(bench.harness.session.mode.get(), 'build')
    assert.deepEqual(texts(bench), ['Built.'], 'the planner has not gone on')
    const [turn] = builder.turns
    assert.equal(turn?.runId, runId)
    const said = JSON.stringify(turn?.input)
    for (const word of [PLAN, 'approved', 'Mind the tests.']) assert.ok(said.includes(word), word)
    assert.equal(bench.all('agent_end').at(-1)?.reason, 'complete')
  })

  test('a plan of a foreign program that is rejected continues in its mode with the feedback', async () => {
    const heard: Answer[] = []
    const planner = new ForeignAgent('planner', [plans(heard)])
    await using bench = new HarnessBench([], {
      modes: [
        { id: 'plan', agent: planner, transitionsTo: 'build' },
        { id: 'build', agent: new ForeignAgent('builder', []) },
      ],
    })
    await bench.harness.sendMessage({ content: 'Plan.' })
    await assert.rejects(bench.harness.respondToToolSuspension({ resumeData: 'yes' }), (error) =>
      InspanError.is(error, 'invalid-input'),
    )
    const resumeData = { action: 'rejected', feedback: 'Too short.' } as const
    await bench.harness.respondToToolSuspension({ resumeData })
    assert.equal(bench.harness.session.mode.get(), 'plan')
    assert.deepEqual(heard, [{ decision: 'answer', value: resumeData }])
    assert.deepEqual(texts(bench), ['The planner goes on.'])
  })

  test('a plan of a foreign program that is approved after the program is gone switches once, though the program asks again', async () => {
    const storage = new MemoryStore()
    const modes = (planner: ForeignAgent, builder: ForeignAgent) => [
      { id: 'plan', agent: planner, transitionsTo: 'build' },
      { id: 'build', agent: builder, transitionsTo: 'plan' },
    ]
    const first = new HarnessBench([], {
      storage,
      modes: modes(new ForeignAgent('planner', [plans()]), new ForeignAgent('builder', [])),
    })
    await first.harness.sendMessage({ content: 'Plan.' })
    await first.harness.destroy()
    const builder = new ForeignAgent('builder', [says('Built.')])
    await using bench = new HarnessBench([], {
      storage,
      modes: modes(new ForeignAgent('planner', [plans()]), builder),
    })
    await bench.harness.selectOrCreateThread()
    await bench.harness.respondToToolSuspension({ resumeData: { action: 'approved' } })
    assert.equal(bench.harness.session.mode.get(), 'build')
    assert.equal(builder.turns.length, 1)
    assert.deepEqual(texts(bench), ['Built.'])
    assert.equal(bench.all('mode_changed').length, 1)
  })
})
