import type { ActivityEvent, JsonValue } from '@inspan/protocol'
import type { HarnessToolCall } from '@inspan/protocol/wire'

export type CallKind = 'command' | 'read' | 'write' | 'search' | 'list' | 'skill' | 'subagent' | 'other'

export interface CallSummary {
  readonly kind: CallKind
  /** What the call is about: a command, a path, a query. */
  readonly subject: string
  /** The exit code of a command, if it is known. */
  readonly exitCode?: number
  /** Files that the call wrote. */
  readonly written: readonly string[]
}

const KINDS: Readonly<Partial<Record<ActivityEvent['type'], CallKind>>> = {
  command: 'command',
  read: 'read',
  write: 'write',
  search: 'search',
  list: 'list',
  skill: 'skill',
  orchestration: 'subagent',
}

/** Patterns of tool names, for agents whose activity is not mapped. The first that matches counts. */
const NAMES: readonly (readonly [RegExp, CallKind])[] = [
  [/^(task|agent|subagent|spawn_agent|delegate)$|subagent/, 'subagent'],
  [/^task_|todo/, 'other'],
  [/bash|shell|exec|command/, 'command'],
  [/skill/, 'skill'],
  [/write|edit|patch|create_file|mkdir|delete/, 'write'],
  [/read|view|cat|open_file|stat/, 'read'],
  [/grep|search|glob|find/, 'search'],
  [/list|^ls$/, 'list'],
]

/** Names of arguments, in the order in which they say most about a call. */
const SUBJECTS = [
  'command',
  'path',
  'file_path',
  'filePath',
  'pattern',
  'query',
  'url',
  'prompt',
  'question',
  'task',
  'title',
]
const PATHS = ['path', 'file_path', 'filePath', 'file']

/** Says what a call does, from its recorded activity or else from its name and input. */
export function summarizeCall(call: HarnessToolCall): CallSummary {
  const { activity = [], input = {} } = call
  const main = activity.find(({ type }) => KINDS[type] !== undefined)
  const kind = (main === undefined ? undefined : KINDS[main.type]) ?? kindByName(call)
  const command = activity.find((event) => event.type === 'command')
  const mapped = activity.flatMap((event) => (event.type === 'write' && event.isSuccess !== false ? [event.path] : []))
  const path = PATHS.map((name) => input[name]).find((value) => typeof value === 'string')
  const guessed = kind === 'write' && call.status === 'complete' && path !== undefined ? [path] : []
  const exitCode = command?.exitCode
  return {
    kind,
    subject: subjectOf(call, main),
    written: mapped.length > 0 ? mapped : guessed,
    ...(exitCode === undefined ? {} : { exitCode }),
  }
}

function kindByName({ input = {}, name }: HarnessToolCall): CallKind {
  const word = name.toLowerCase()
  const [, kind] = NAMES.find(([pattern]) => pattern.test(word)) ?? []
  return kind ?? (typeof input['command'] === 'string' ? 'command' : 'other')
}

function subjectOf({ input }: HarnessToolCall, main: ActivityEvent | undefined): string {
  const topic = SUBJECTS.map((name) => input?.[name]).find((value) => typeof value === 'string')
  if (topic !== undefined) return topic
  if (main?.type === 'command') return main.command
  if (main !== undefined && 'path' in main && main.path !== undefined) return main.path
  if (input === undefined) return ''
  return Object.entries(input)
    .map(([name, value]) => `${name}: ${shortOf(value)}`)
    .join(', ')
}

/** A list of tasks or todos is shown elsewhere. */
function shortOf(value: JsonValue): string {
  if (typeof value === 'string') return value
  const isOfObjects = Array.isArray(value) && value.some((each) => typeof each === 'object' && each !== null)
  return isOfObjects ? String(value.length) : JSON.stringify(value)
}
