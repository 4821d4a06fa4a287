import assert from 'node:assert/strict'
import { suite, test } from 'node:test'
import { Agent, createTool } from '@inspan/agent'
import { InspanError } from '@inspan/protocol'
import { MemoryStore } from '@inspan/stores'
import { scriptedModel } from '@inspan/testing'
import { HarnessBench } from '../harness.fixture.ts'

const ask = (id: string, question: string) => ({ id, name: 'ask_user', input: { question } })

suite('a tool that asks', () => {
  test('ends the run as suspended, and continues with the answer', async () => {
    await using bench = new HarnessBench([{ toolCalls: [ask('q1', 'Which?')] }, { text: 'Thanks.' }])
    await bench.harness.sendMessage({ content: 'Go' })
    assert.equal(bench.all('agent_end')[0]?.reason, 'suspended')
    const [asked] = bench.all('tool_suspended')
    assert.equal(asked?.toolName, 'ask_user')
    assert.deepEqual(asked?.suspendPayload, { question: 'Which?' })
    assert.deepEqual([...bench.harness.session.displayState.get().pendingSuspensions.keys()], ['q1'])
    await bench.harness.respondToToolSuspension({ resumeData: 'The left one' })
    assert.equal(bench.all('agent_end').at(-1)?.reason, 'complete')
    assert.match(bench.model.requestBodies[1] ?? '', /The left one/)
    assert.equal(bench.harness.session.displayState.get().pendingSuspensions.size, 0)
    assert.equal(bench.all('tool_end')[0]?.isError, false)
  })

  test('stays on the display until it has its result, and after', async () => {
    const calls = [{ id: 'q1', name: 'ask_user', input: { question: 'Which?' } }]
    await using bench = new HarnessBench([{ toolCalls: calls }, { text: 'Left.' }, { text: 'Next.' }])
    const { harness } = bench
    const shown = () => [...harness.session.displayState.get().activeTools].map(([id, { status }]) => [id, status])
    await harness.sendMessage({ content: 'Go.' })
    assert.deepEqual(shown(), [['q1', 'running']])
    await harness.respondToToolSuspension({ resumeData: 'Left' })
    assert.deepEqual(shown(), [['q1', 'completed']])
    await harness.sendMessage({ content: 'And now?' })
    assert.deepEqual(shown(), [])
  })

  test('may be answered from inside the listener that learns of it', async () => {
    await using bench = new HarnessBench([{ toolCalls: [ask('q1', 'Which?')] }, { text: 'Thanks.' }])
    let answered: Promise<void> | undefined
    bench.harness.subscribe((event) => {
      if (event.type !== 'tool_suspended') return
      answered = bench.harness.respondToToolSuspension({ toolCallId: event.toolCallId, resumeData: 'Yes' })
    })
    await bench.harness.sendMessage({ content: 'Go' })
    await answered
    assert.equal(bench.all('agent_end').at(-1)?.reason, 'complete')
    assert.equal(bench.model.calls, 2)
  })

  test('two at once are answered by their ids, and one without an id is ambiguous', async () => {
    await using bench = new HarnessBench([{ toolCalls: [ask('q1', 'One?'), ask('q2', 'Two?')] }, { text: 'Thanks.' }])
    await bench.harness.sendMessage({ content: 'Go' })
    const { session } = bench.harness
    assert.deepEqual(
      session.suspensions
        .list()
        .map(({ toolCallId }) => toolCallId)
        .sort(),
      ['q1', 'q2'],
    )
    await assert.rejects(bench.harness.respondToToolSuspension({ resumeData: 'x' }), (error) =>
      InspanError.is(error, 'misuse'),
    )
    await assert.rejects(bench.harness.respondToToolSuspension({ resumeData: 'x', toolCallId: 'q9' }), (error) =>
      InspanError.is(error, 'not-found'),
    )
    await bench.harness.respondToToolSuspension({ toolCallId: 'q2', resumeData: 'B' })
    assert.equal(session.suspensions.resolveToolCallId(), 'q1')
    assert.equal(bench.all('agent_end').at(-1)?.reason, 'suspended')
    await bench.harness.respondToToolSuspension({ resumeData: 'A' })
    assert.equal(bench.all('agent_end').at(-1)?.reason, 'complete')
  })

  test('an answer that was given cannot be given again', async () => {
    await using bench = new HarnessBench([{ toolCalls: [ask('q1', 'Which?')] }, { text: 'Thanks.' }])
    await bench.harness.sendMessage({ content: 'Go' })
    await bench.harness.respondToToolSuspension({ resumeData: 'A' })
    await assert.rejects(bench.harness.respondToToolSuspension({ resumeData: 'B', toolCallId: 'q1' }), (error) =>
      InspanError.is(error, 'not-found'),
    )
  })

  test('still waits in the next process, is reported again and continues there', async () => {
    const storage = new MemoryStore()
    const script = [{ toolCalls: [ask('q1', 'Which?')] }]
    const first = new HarnessBench(script, { storage })
    await first.harness.sendMessage({ content: 'Go' })
    await first.harness.destroy()
    await using second = new HarnessBench([{ text: 'Thanks.' }], { storage })
    await second.harness.selectOrCreateThread()
    assert.deepEqual(second.types(), ['thread_changed', 'tool_suspended'])
    await second.harness.respondToToolSuspension({ resumeData: 'A' })
    assert.equal(second.all('agent_end').at(-1)?.reason, 'complete')
    assert.match(second.model.requestBodies[0] ?? '', /User answered: A/)
  })

  test('a tool of the user’s can suspend as well', async () => {
    const deploy = createTool({
      id: 'deploy',
      description: 'Deploys.',
      execute: async (_input, { resumeData, suspend }) =>
        resumeData === undefined ? suspend({ to: 'production' }) : `deployed by ${JSON.stringify(resumeData)}`,
    })
    await using bench = new HarnessBench([{ toolCalls: [{ id: 'd1', name: 'deploy' }] }, { text: 'Done.' }], {
      tools: { deploy },
      permissions: { tools: { deploy: 'allow' } },
    })
    await bench.harness.sendMessage({ content: 'Go' })
    assert.deepEqual(bench.all('tool_suspended')[0]?.suspendPayload, { to: 'production' })
    await bench.harness.respondToToolSuspension({ resumeData: { by: 'me' } })
    assert.equal(bench.all('tool_end')[0]?.result, 'deployed by {"by":"me"}')
  })
})

suite('a submitted plan', () => {
  const MODES = [
    { id: 'plan', instructions: 'Plan only.', transitionsTo: 'build' },
    { id: 'build', instructions: 'Build it.' },
  ]
  const PLAN = { toolCalls: [{ id: 'p1', name: 'submit_plan', input: { title: 'T', plan: 'Do it' } }] }

  test('a submitted plan that is approved switches the mode, and the same run continues', async () => {
    await using bench = new HarnessBench([PLAN, { text: 'Building.' }], { modes: MODES })
    await bench.harness.sendMessage({ content: 'Go' })
    assert.match(bench.model.requestBodies[0] ?? '', /Plan only/)
    const runId = bench.harness.session.run.getRunId()
    const resumed = bench.next('agent_start').then(() => bench.harness.session.run.getRunId())
    await bench.harness.respondToToolSuspension({ resumeData: { action: 'approved' } })
    assert.equal(await resumed, runId)
    assert.equal(bench.harness.session.mode.get(), 'build')
    assert.deepEqual(bench.all('mode_changed'), [{ type: 'mode_changed', modeId: 'build', previousModeId: 'plan' }])
    assert.match(bench.model.requestBodies[1] ?? '', /Build it/)
    assert.doesNotMatch(bench.model.requestBodies[1] ?? '', /Plan only/)
    assert.equal(bench.all('agent_end').at(-1)?.reason, 'complete')
  })

  test('a submitted plan that is rejected continues in its mode with the feedback', async () => {
    await using bench = new HarnessBench([PLAN, { text: 'I see.' }], { modes: MODES })
    await bench.harness.sendMessage({ content: 'Go' })
    await bench.harness.respondToToolSuspension({
      resumeData: { action: 'rejected', feedback: 'Needs more detail' },
    })
    assert.equal(bench.harness.session.mode.get(), 'plan')
    assert.match(bench.model.requestBodies[1] ?? '', /Needs more detail/)
  })

  test('a submitted plan that leads to a mode of another agent lets it take over in the same run', async () => {
    const builder = scriptedModel([{ text: 'Built.' }])
    await using bench = new HarnessBench([PLAN], {
      modes: [
        { id: 'plan', transitionsTo: 'build' },
        { id: 'build', agent: new Agent({ id: 'builder', model: builder }) },
      ],
    })
    await bench.harness.sendMessage({ content: 'Go' })
    const runId = bench.harness.session.run.getRunId()
    const started = bench.next('agent_start').then(() => bench.harness.session.run.getRunId())
    await bench.harness.respondToToolSuspension({ resumeData: { action: 'approved' } })
    assert.equal(await started, runId)
    assert.equal(bench.all('agent_end').at(-1)?.reason, 'complete')
    assert.equal(bench.all('agent_start').length, 2)
    assert.equal(bench.model.calls, 1)
    assert.match(builder.requestBodies[0] ?? '', /This plan was approved/)
    assert.equal(bench.harness.getCurrentAgent().id, 'builder')
  })
})
