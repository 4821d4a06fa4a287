import assert from 'node:assert/strict'
import { suite, test } from 'node:test'
import { HarnessBench } from '../harness.fixture.ts'

const task = (content: string, status = 'pending') => ({ content, status, activeForm: content })
const done = { text: 'Done.' }

suite('the task list of a harness', () => {
  test('is reported at every change and shown, with what it was before', async () => {
    await using bench = new HarnessBench([
      { toolCalls: [{ name: 'task_write', input: { tasks: [task('a'), task('b')] } }] },
      { toolCalls: [{ name: 'task_complete', input: { id: 'task_a' } }] },
      done,
    ])
    await bench.harness.sendMessage({ content: 'Go.' })
    assert.deepEqual(
      bench.all('task_updated').map(({ tasks }) => tasks.map(({ id, status }) => `${id} ${status}`)),
      [
        ['task_a pending', 'task_b pending'],
        ['task_a completed', 'task_b pending'],
      ],
    )
    assert.equal(bench.all('state_signal').length, 2)
    assert.equal(bench.all('tool_approval_required').length, 0)
    const { previousTasks, tasks } = bench.harness.session.displayState.get()
    assert.deepEqual([previousTasks[0]?.status, tasks[0]?.status], ['pending', 'completed'])
  })

  test('goes with a clone', async () => {
    await using bench = new HarnessBench([{ toolCalls: [{ name: 'task_write', input: { tasks: [task('a')] } }] }, done])
    await bench.harness.sendMessage({ content: 'Go.' })
    await bench.harness.cloneThread()
    assert.deepEqual(
      bench.harness.session.displayState.get().tasks.map(({ id }) => id),
      ['task_a'],
    )
  })

  test('is not there when its tools are disabled', async () => {
    await using bench = new HarnessBench([done], {
      disableBuiltinTools: ['task_write', 'task_update', 'task_complete', 'task_check'],
    })
    await bench.harness.sendMessage({ content: 'Go.' })
    assert.doesNotMatch(bench.model.requestBodies[0] ?? '', /task_/)
    assert.match(bench.model.requestBodies[0] ?? '', /ask_user/)
  })
})
