import assert from 'node:assert/strict'
import { suite, test } from 'node:test'
import type { TaskItem, TaskStatus } from '@inspan/protocol'
import { assignTaskIds, changeTask, describeTaskChanges, summarizeTasks, type TaskInput } from './tasks.ts'

const task = (content: string, id?: string, status: TaskStatus = 'pending'): TaskInput => ({
  ...(id === undefined ? {} : { id }),
  content,
  status,
  activeForm: content,
})
const ids = (given: readonly TaskInput[], previous: readonly TaskItem[] = []): readonly string[] =>
  assignTaskIds(given, previous).map(({ id }) => id)

suite('the ids of tasks', () => {
  const cases: Readonly<Record<string, readonly [readonly TaskInput[], readonly string[]]>> = {
    'come from what is to be done': [[task('Write the Tests!')], ['task_write_the_tests']],
    'are cut at 48 characters': [[task('x'.repeat(60))], [`task_${'x'.repeat(48)}`]],
    'are numbered when the words are the same': [
      [task('a'), task('a'), task('a')],
      ['task_a', 'task_a_2', 'task_a_3'],
    ],
    'stay what they were given': [[task('a', 'mine')], ['mine']],
    'are given to the first when two claim one': [
      [task('a', 'x'), task('b', 'x')],
      ['x', 'task_b'],
    ],
    'are never taken from one that comes later': [
      [task('a'), task('b', 'task_a')],
      ['task_a_2', 'task_a'],
    ],
    'keep letters of every script': [[task('测试 代码')], ['task_测试_代码']],
    'are there for words without letters': [[task('!!!')], ['task']],
  }
  for (const [title, [given, expected]] of Object.entries(cases)) {
    test(title, () => assert.deepEqual(ids(given), expected))
  }

  test('are kept when a task is written down again', () => {
    const before = assignTaskIds([task('a', 'first'), task('b', 'second')], [])
    assert.deepEqual(ids([task('b'), task('a'), task('c')], before), ['second', 'first', 'task_c'])
  })

  test('are kept by each of several tasks with the same title, in order', () => {
    const before = assignTaskIds([task('a', 'one'), task('a', 'two')])
    assert.deepEqual(ids([task('a'), task('a'), task('a')], before), ['one', 'two', 'task_a'])
    assert.deepEqual(ids([task('a', 'two'), task('a')], before), ['two', 'one'])
    assert.deepEqual(ids([task('a')], before), ['one'])
  })

  test('never go to another task', () => {
    const before = assignTaskIds([task('a!'), task('b')])
    assert.deepEqual(ids([task('a?')], before), ['task_a_2'], 'the slug is the same, the task is not')
    assert.deepEqual(ids([task('c', 'task_b'), task('b')], before), ['task_b', 'task_b_2'], 'unless it is claimed')
  })
})

test('only one task is in progress: the other goes back to pending', () => {
  const tasks = assignTaskIds([task('a', 'a', 'in_progress'), task('b', 'b'), task('c', 'c', 'completed')], [])
  assert.deepEqual(
    changeTask(tasks, 'b', { status: 'in_progress' }).map(({ status }) => status),
    ['pending', 'in_progress', 'completed'],
  )
})

test('an empty list has nothing completed', () => {
  assert.deepEqual(summarizeTasks([]), {
    total: 0,
    completed: 0,
    inProgress: 0,
    pending: 0,
    incomplete: 0,
    hasTasks: false,
    allCompleted: false,
  })
})

test('changes name what was added, changed and removed', () => {
  const before = assignTaskIds([task('a', 'a'), task('b', 'b'), task('c', 'c')], [])
  const after = assignTaskIds([task('a', 'a', 'completed'), task('b', 'b'), task('d', 'd')], [])
  assert.equal(describeTaskChanges(before, after), 'changed: [x] a (a)\nadded: [ ] d (d)\nremoved: c (c)')
})
