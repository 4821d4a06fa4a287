import assert from 'node:assert/strict'
import { createHash } from 'node:crypto'
import { suite, test } from 'node:test'
import type { JsonObject, SignalPart } from '@inspan/protocol'
import type { RunnableTool } from '@inspan/protocol/driver'
import { boundaryAt, forkThread, rewindThread, ThreadLog } from '../../engine/index.ts'
import { ThreadBench } from '../signals/thread-bench.fixture.ts'
import type { ThreadPort } from '../signals/thread-port.ts'
import { builtinTools } from './builtin-tools.ts'

const tools = (port: ThreadPort): readonly RunnableTool[] =>
  builtinTools({ port, modes: { planTarget: () => 'build', switchMode: async () => undefined } })

type Call = readonly [name: string, input: JsonObject]

const step = (...calls: readonly Call[]) => ({ toolCalls: calls.map(([name, input]) => ({ name, input })) })
const write = (...contents: readonly string[]): Call => [
  'task_write',
  { tasks: contents.map((content) => ({ content, status: 'pending', activeForm: `${content}ing` })) },
]
const done = { text: 'Done.' }

async function played(...steps: readonly ReturnType<typeof step>[]): Promise<ThreadBench> {
  const bench = await ThreadBench.open({ script: [...steps, done], tools })
  await bench.say('Go.')
  return bench
}

async function signals(bench: ThreadBench): Promise<readonly SignalPart[]> {
  const parts = (await bench.messages()).flatMap((message) => message.parts)
  return parts.filter((part) => part.type === 'signal')
}

suite('task tools', () => {
  test('write the list down and answer with it', async () => {
    await using bench = await played(step(write('Read', 'Test')))
    const tasks = [
      { id: 'task_read', content: 'Read', status: 'pending', activeForm: 'Reading' },
      { id: 'task_test', content: 'Test', status: 'pending', activeForm: 'Testing' },
    ]
    assert.deepEqual(await bench.results(), [
      { content: '[ ] Read (task_read)\n[ ] Test (task_test)', tasks, isError: false },
    ])
    assert.deepEqual(bench.runtime.state.head.tasks, tasks)
  })

  test('task tools of one step see what the others wrote', async () => {
    await using bench = await played(
      step(write('a', 'b', 'c')),
      step(
        ['task_complete', { id: 'task_a' }],
        ['task_update', { id: 'task_b', status: 'in_progress' }],
        ['task_update', { id: 'task_c', content: 'C' }],
      ),
    )
    assert.deepEqual(
      bench.runtime.state.head.tasks.map(({ content, status }) => [content, status]),
      [
        ['a', 'completed'],
        ['b', 'in_progress'],
        ['C', 'pending'],
      ],
    )
  })

  const refused: Readonly<Record<string, readonly [Call, RegExp]>> = {
    'two tasks in progress': [
      [
        'task_write',
        {
          tasks: ['x', 'y'].map((content) => ({ content, status: 'in_progress', activeForm: content })),
        },
      ],
      /Only one task/,
    ],
    'a task nobody knows': [['task_complete', { id: 'task_z' }], /no task "task_z".*Known: task_a/],
    'an update of nothing': [['task_update', { id: 'task_a' }], /"content", "status" or "activeForm"/],
    'a status that is none': [['task_update', { id: 'task_a', status: 'later' }], /one of pending/],
    'something that is no list': [['task_write', { tasks: 'x' }], /must be a list/],
  }
  for (const [title, [call, message]] of Object.entries(refused)) {
    test(`refuse ${title} and change nothing`, async () => {
      await using bench = await played(step(write('a')), step(call))
      const result = (await bench.results())[1] as { content: string; isError: boolean; tasks: unknown[] }
      assert.match(result.content, message)
      assert.equal(result.isError, true)
      assert.equal(result.tasks.length, 1)
      assert.equal(bench.runtime.state.head.tasks.length, 1)
    })
  }

  test('check returns what is left', async () => {
    await using bench = await played(
      step(write('a', 'b')),
      step(['task_complete', { id: 'task_a' }]),
      step(['task_check', {}]),
    )
    const { content, summary, incompleteTasks, isError } = (await bench.results())[2] as Record<string, unknown>
    assert.match(String(content), /^1 of 2 tasks are completed/)
    assert.deepEqual(summary, {
      total: 2,
      completed: 1,
      inProgress: 0,
      pending: 1,
      incomplete: 1,
      hasTasks: true,
      allCompleted: false,
    })
    assert.deepEqual(
      (incompleteTasks as { id: string }[]).map(({ id }) => id),
      ['task_b'],
    )
    assert.equal(isError, false)
  })
})

suite('the task list in the conversation', () => {
  test('is sent whole first, then what changes; what did not change is not sent', async () => {
    await using bench = await played(
      step(write('a', 'b')),
      step(['task_complete', { id: 'task_a' }]),
      step(['task_complete', { id: 'task_a' }]),
    )
    const told = await signals(bench)
    assert.deepEqual(
      told.map(({ kind, data }) => [kind, data['stateId'], data['mode'], data['version']]),
      [
        ['state_signal', 'tasks', 'snapshot', 1],
        ['state_signal', 'tasks', 'delta', 2],
      ],
    )
    assert.equal(told[1]?.text, '<task-list-update>changed: [x] a (task_a)</task-list-update>')
    // The model has read the list in the right place: after the results of the step that made it.
    const last = JSON.stringify(bench.model.requests.at(-1))
    assert.ok(last.includes('<current-task-list>'))
  })

  test('is sent whole again after ten changes', async () => {
    const steps = Array.from({ length: 12 }, (_, n) => step(['task_update', { id: 'task_a', content: `a${n}` }]))
    await using bench = await played(step(write('a')), ...steps)
    const modes = (await signals(bench)).map(({ data }) => data['mode'])
    assert.deepEqual(modes, ['snapshot', ...Array(10).fill('delta'), 'snapshot', 'delta'])
  })

  test('goes back with a rewind, and is sent whole after it', async () => {
    await using bench = await ThreadBench.open({
      script: [{ text: 'Hi.' }, step(write('a')), done, step(write('b')), done],
      tools,
    })
    await bench.say('Hello.')
    const { head } = bench.runtime.state
    const before = await boundaryAt(bench.store, head.lineage, head.seq)
    await bench.say('Plan.')
    await bench.runtime.close()
    const fence = await bench.owner.claim('thread')
    const log = await ThreadLog.open({ store: bench.store, stream: 'thread', fence })
    await rewindThread(bench.store, log, before)
    await log.close()
    await bench.owner.release('thread', fence)
    await bench.restart()
    assert.deepEqual(bench.runtime.state.head.tasks, [])
    await bench.say('Plan again.')
    assert.deepEqual(
      (await signals(bench)).map(({ data, text }) => [data['mode'], text]),
      [['snapshot', '<current-task-list>[ ] b (task_b)</current-task-list>']],
    )
  })

  test('is sent whole again when memory has replaced what was sent before', async () => {
    await using bench = await ThreadBench.open({
      script: [step(write('a')), done, step(['task_complete', { id: 'task_a' }]), done],
      tools,
    })
    await bench.say('Plan.')
    const { seq } = bench.runtime.state.head
    await bench.runtime.close()
    const fence = await bench.owner.claim('thread')
    const log = await ThreadLog.open({ store: bench.store, stream: 'thread', fence })
    const bytes = Buffer.from('There is a plan.')
    const blob = { hash: createHash('sha256').update(bytes).digest('hex'), mime: 'text/plain', bytes }
    const om = { generation: 1, coversTo: seq, blob: blob.hash }
    await log.commit([{ type: 'om.committed', om, replaces: 0 }], {}, { blobs: [blob] })
    await log.close()
    await bench.owner.release('thread', fence)
    await bench.restart()
    await bench.say('Go on.')
    assert.deepEqual(
      (await signals(bench)).map(({ data }) => data['mode']),
      ['snapshot', 'snapshot'],
    )
  })

  test('is that of the parent in a fork, and its own from there on', async () => {
    await using bench = await played(step(write('a')))
    const { state } = bench.runtime
    const at = await boundaryAt(bench.store, state.head.lineage, state.head.seq)
    const fork = await forkThread(bench.store, bench.owner, state, { resourceId: 'test', at })
    const fence = await bench.owner.claim(fork.id)
    const log = await ThreadLog.open({ store: bench.store, stream: fork.id, fence })
    assert.deepEqual(
      log.state.head.tasks.map(({ id }) => id),
      ['task_a'],
    )
    await log.close()
  })
})
