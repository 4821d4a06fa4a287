import { createHash } from 'node:crypto'
import type { JsonObject, TaskItem, TaskStatus } from '@inspan/protocol'
import type { RunnableTool, ToolOutcome, ToolRunContext } from '@inspan/protocol/driver'
import { Mailbox } from '../../common/mailbox.ts'
import type { ControlFact } from '../../engine/index.ts'
import { laneState, stateFacts } from '../signals/state-lane.ts'
import type { ThreadPort } from '../signals/thread-port.ts'
import {
  assignTaskIds,
  changeTask,
  describeTaskChanges,
  describeTasks,
  summarizeTasks,
  type TaskChange,
  type TaskInput,
} from './tasks.ts'
import { ToolRefusal, listOfObjects, optionalOneOf, optionalText, refusal, requiredText } from './tool-input.ts'

const STATUSES: readonly TaskStatus[] = ['pending', 'in_progress', 'completed']
/** The model gets the whole list again when it would otherwise have to add up more changes than this. */
const MAX_DELTAS = 10

const ID = { type: 'string', minLength: 1 } as const
const TASK_FIELDS = {
  content: { type: 'string', minLength: 1 },
  status: { type: 'string', enum: ['pending', 'in_progress', 'completed'] },
  activeForm: { type: 'string', minLength: 1 },
} as const

function schemaOf(properties: JsonObject, required: readonly string[]): JsonObject {
  return { type: 'object', properties, required }
}

/** Made once: what an adapter or a model makes of a schema is kept by its object. */
const SCHEMAS = {
  write: schemaOf(
    {
      tasks: {
        type: 'array',
        items: schemaOf({ id: ID, ...TASK_FIELDS }, ['content', 'status', 'activeForm']),
      },
    },
    ['tasks'],
  ),
  update: schemaOf({ id: ID, ...TASK_FIELDS }, ['id']),
  complete: schemaOf({ id: ID }, ['id']),
  check: { type: 'object', properties: {} },
} as const

/**
 * Returns the tools for the task list of one thread. Made once per thread, so that changes are made one after the
 * other.
 */
export function taskTools(port: ThreadPort): readonly RunnableTool[] {
  const editor = new TaskListEditor(port)
  const tool = (
    name: string,
    description: string,
    inputSchema: JsonObject,
    plan: (input: JsonObject, tasks: readonly TaskItem[]) => readonly TaskItem[],
  ): RunnableTool => ({
    name,
    description,
    inputSchema,
    category: 'other',
    isIdempotent: true,
    execute: (input, context) => editor.change(context, (tasks) => plan(input, tasks)),
  })
  return [
    tool(
      'task_write',
      'Create or replace the task list. Give all tasks, also those that are done; at most one may be in_progress.',
      SCHEMAS.write,
      writeTasks,
    ),
    tool('task_update', 'Update one task of the list by its id.', SCHEMAS.update, updateTask),
    tool('task_complete', 'Mark one task of the list as completed by its id.', SCHEMAS.complete, (input, tasks) =>
      changeTask(tasks, knownId(input, tasks), { status: 'completed' }),
    ),
    {
      name: 'task_check',
      description: 'Check how far the task list is done.',
      inputSchema: SCHEMAS.check,
      annotations: { readOnlyHint: true },
      category: 'other',
      isIdempotent: true,
      execute: () => editor.check(),
    },
  ]
}

function writeTasks(input: JsonObject, previous: readonly TaskItem[]): readonly TaskItem[] {
  const given = listOfObjects(input, 'tasks').map((task): TaskInput => {
    const id = optionalText(task, 'id')
    const content = requiredText(task, 'content')
    return {
      ...(id === undefined ? {} : { id }),
      content,
      status: optionalOneOf(task, 'status', STATUSES) ?? 'pending',
      activeForm: optionalText(task, 'activeForm') ?? content,
    }
  })
  if (given.filter(({ status }) => status === 'in_progress').length > 1) {
    throw new ToolRefusal('Only one task can be in_progress at a time.')
  }
  return assignTaskIds(given, previous)
}

function updateTask(input: JsonObject, tasks: readonly TaskItem[]): readonly TaskItem[] {
  const id = knownId(input, tasks)
  const status = optionalOneOf(input, 'status', STATUSES)
  const change: TaskChange = {
    ...(input['content'] === undefined ? {} : { content: requiredText(input, 'content') }),
    ...(input['activeForm'] === undefined ? {} : { activeForm: requiredText(input, 'activeForm') }),
    ...(status === undefined ? {} : { status }),
  }
  if (Object.keys(change).length === 0) throw new ToolRefusal('Give "content", "status" or "activeForm".')
  return changeTask(tasks, id, change)
}

function knownId(input: JsonObject, tasks: readonly TaskItem[]): string {
  const id = requiredText(input, 'id')
  if (tasks.some((task) => task.id === id)) return id
  const known = tasks.map((task) => task.id).join(', ')
  throw new ToolRefusal(`There is no task "${id}". ${known === '' ? 'The list is empty.' : `Known: ${known}.`}`)
}

class TaskListEditor {
  readonly #port: ThreadPort
  /** Calls of one step run at once; each has to see what the one before it wrote. */
  readonly #turns = new Mailbox()

  constructor(port: ThreadPort) {
    this.#port = port
  }

  change(context: ToolRunContext, plan: (tasks: readonly TaskItem[]) => readonly TaskItem[]): Promise<ToolOutcome> {
    return this.#turns.post(async () => {
      const before = this.#port.state.head.tasks
      let after: readonly TaskItem[]
      try {
        after = plan(before)
      } catch (error) {
        if (!(error instanceof ToolRefusal)) throw error
        return refusal(error.message, { tasks: toJson(before) })
      }
      await this.#port.record([{ type: 'tasks.changed', tasks: after }, ...(await this.#signal(before, after))], {
        run: context.runId,
        turn: context.turnId,
      })
      return { result: { content: describeTasks(after), tasks: toJson(after), isError: false } }
    })
  }

  check(): Promise<ToolOutcome> {
    return this.#turns.post(async () => {
      const { tasks } = this.#port.state.head
      const summary = summarizeTasks(tasks)
      const incompleteTasks = tasks.filter(({ status }) => status !== 'completed')
      const content = !summary.hasTasks
        ? 'There are no tasks.'
        : summary.allCompleted
          ? `All ${summary.total} tasks are completed.`
          : `${summary.completed} of ${summary.total} tasks are completed. Left:\n${describeTasks(incompleteTasks)}`
      return {
        result: {
          content,
          tasks: toJson(tasks),
          summary: { ...summary },
          incompleteTasks: toJson(incompleteTasks),
          isError: false,
        },
      }
    })
  }

  /** Keeps the list visible to the model when the calls that made it have long left its context. */
  async #signal(before: readonly TaskItem[], after: readonly TaskItem[]): Promise<readonly ControlFact[]> {
    const last = await laneState(this.#port, 'tasks')
    const changes = describeTaskChanges(before, after)
    const isDelta = last !== null && last.deltas < MAX_DELTAS && last.cacheKey === keyOf(before)
    const state = { id: 'tasks', cacheKey: keyOf(after) }
    return stateFacts(
      isDelta
        ? { ...state, mode: 'delta', tagName: 'task-list-update', contents: changes }
        : { ...state, mode: 'snapshot', tagName: 'current-task-list', contents: describeTasks(after) },
      last,
      this.#port.newId,
    )
  }
}

function keyOf(tasks: readonly TaskItem[]): string {
  return createHash('sha256').update(describeTasks(tasks)).digest('hex').slice(0, 16)
}

function toJson(tasks: readonly TaskItem[]): JsonObject[] {
  return tasks.map((task) => ({ ...task }))
}
