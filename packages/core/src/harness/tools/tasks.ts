import type { TaskItem, TaskStatus } from '@inspan/protocol'

export type TaskInput = Omit<TaskItem, 'id'> & { readonly id?: string }

export interface TaskSummary {
  readonly total: number
  readonly completed: number
  readonly inProgress: number
  readonly pending: number
  readonly incomplete: number
  readonly hasTasks: boolean
  readonly allCompleted: boolean
}

const SLUG_LENGTH = 48

/**
 * Gives every task an id of its own. A task that is written again keeps its id, so that a UI sees the same task move
 * on; of several with the same words, each keeps its own, in order. Of two tasks that claim one id, the first gets it.
 * The id of an earlier task never goes to a task with other words, unless that claims it.
 */
export function assignTaskIds(given: readonly TaskInput[], previous: readonly TaskItem[] = []): readonly TaskItem[] {
  const taken = new Set<string>()
  const claimed = given.map(({ id }) => {
    if (id === undefined || id === '' || taken.has(id)) return undefined
    taken.add(id)
    return id
  })
  const used = new Set([...taken, ...previous.map(({ id }) => id)])
  return given.map((task, index) => {
    const id = claimed[index] ?? knownId(task, previous, taken) ?? freshId(task.content, used)
    used.add(id)
    taken.add(id)
    return { id, content: task.content, status: task.status, activeForm: task.activeForm }
  })
}

/** Returns the first earlier id of a task with the same words that no other task has. */
function knownId(task: TaskInput, previous: readonly TaskItem[], taken: ReadonlySet<string>): string | undefined {
  return previous.find(({ content, id }) => content === task.content && !taken.has(id))?.id
}

function freshId(content: string, taken: ReadonlySet<string>): string {
  const slug = content
    .toLowerCase()
    .replaceAll(/[^\p{L}\p{N}]+/gu, '_')
    .replaceAll(/^_+|_+$/g, '')
    .slice(0, SLUG_LENGTH)
    .replace(/_+$/, '')
  const base = slug === '' ? 'task' : `task_${slug}`
  for (let n = 1; ; n++) {
    const id = n === 1 ? base : `${base}_${n}`
    if (!taken.has(id)) return id
  }
}

export type TaskChange = Partial<Pick<TaskItem, 'content' | 'status' | 'activeForm'>>

/** Changes a task. Only one is in progress at a time: another one goes back to pending. */
export function changeTask(tasks: readonly TaskItem[], id: string, change: TaskChange): readonly TaskItem[] {
  return tasks.map((task) => {
    if (task.id === id) return { ...task, ...change }
    return change.status === 'in_progress' && task.status === 'in_progress' ? { ...task, status: 'pending' } : task
  })
}

export function summarizeTasks(tasks: readonly TaskItem[]): TaskSummary {
  const count = (status: TaskStatus): number => tasks.filter((task) => task.status === status).length
  const completed = count('completed')
  return {
    total: tasks.length,
    completed,
    inProgress: count('in_progress'),
    pending: count('pending'),
    incomplete: tasks.length - completed,
    hasTasks: tasks.length > 0,
    allCompleted: tasks.length > 0 && completed === tasks.length,
  }
}

const MARKS: Readonly<Record<TaskStatus, string>> = { pending: '[ ]', in_progress: '[>]', completed: '[x]' }

/** The list as a model reads it. */
export function describeTasks(tasks: readonly TaskItem[]): string {
  if (tasks.length === 0) return 'There are no tasks.'
  return tasks.map(({ id, content, status }) => `${MARKS[status]} ${content} (${id})`).join('\n')
}

/** Returns the changes as a model reads them; empty when there are none. */
export function describeTaskChanges(before: readonly TaskItem[], after: readonly TaskItem[]): string {
  const old = new Map(before.map((task) => [task.id, task]))
  const kept = new Set(after.map((task) => task.id))
  const lines = after.flatMap((task) => {
    const known = old.get(task.id)
    if (known === undefined) return [`added: ${MARKS[task.status]} ${task.content} (${task.id})`]
    if (known.status === task.status && known.content === task.content) return []
    return [`changed: ${MARKS[task.status]} ${task.content} (${task.id})`]
  })
  const removed = before.filter((task) => !kept.has(task.id)).map((task) => `removed: ${task.content} (${task.id})`)
  return [...lines, ...removed].join('\n')
}
