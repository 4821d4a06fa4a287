import assert from 'node:assert/strict'
import { suite, test } from 'node:test'
import { Agent } from '@inspan/agent'
import { scriptedModel } from '@inspan/testing'
import { HarnessBench } from '../harness.fixture.ts'
import { submitPlanTool, taskCheckTool, taskWriteTool } from './thread-tools.ts'

const tasks = [{ content: 'Paint', status: 'pending', activeForm: 'Painting' }]

suite('a built-in tool that an agent of the user’s own brings along', () => {
  test('is the thread’s, under its name and under another, although the built-in ones are taken away', async () => {
    const script = [
      { toolCalls: [{ id: 'w', name: 'plan_work', input: { tasks } }] },
      { toolCalls: [{ id: 'c', name: 'task_check' }] },
      { text: 'Done.' },
    ]
    await using bench = new HarnessBench(
      script,
      { disableBuiltinTools: ['task_write', 'task_check'], initialState: { yolo: true } },
      { tools: { plan_work: taskWriteTool, task_check: taskCheckTool } },
    )
    await bench.harness.sendMessage({ content: 'Go.' })
    assert.deepEqual(
      bench.harness.session.displayState.get().tasks.map(({ content }) => content),
      ['Paint'],
    )
    const [, checked] = bench.all('tool_end')
    assert.match(JSON.stringify(checked?.result), /"total":1/)
  })

  for (const name of ['submit_plan', 'propose']) {
    test(`a plan called ${name} leads to the next mode, once, and its agent goes on`, async () => {
      const planner = new Agent({
        id: 'planner',
        model: scriptedModel([{ toolCalls: [{ id: 'p', name, input: { plan: '1. Write it.' } }] }]),
        tools: { [name]: submitPlanTool },
      })
      const builder = new Agent({ id: 'builder', model: scriptedModel([{ text: 'Built.' }]) })
      await using bench = new HarnessBench([], {
        disableBuiltinTools: ['submit_plan'],
        initialState: { yolo: true },
        modes: [
          { id: 'plan', agent: planner, transitionsTo: 'build' },
          { id: 'build', agent: builder, transitionsTo: 'plan' },
        ],
      })
      await bench.harness.sendMessage({ content: 'Go.' })
      assert.deepEqual(bench.all('tool_suspended')[0]?.suspendPayload, {
        title: 'Implementation Plan',
        plan: '1. Write it.',
      })
      await bench.harness.respondToToolSuspension({ resumeData: { action: 'approved' } })
      assert.equal(bench.harness.session.mode.get(), 'build')
      assert.equal(bench.all('mode_changed').length, 1)
      assert.equal(bench.all('text').at(-1)?.text, 'Built.')
    })
  }

  test('reports outside a harness that there is no list', async () => {
    const outcome = await taskWriteTool.execute({ tasks }, {} as never)
    assert.match(JSON.stringify(outcome), /belongs to a thread of a harness/)
  })
})
