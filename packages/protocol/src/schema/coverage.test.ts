import assert from 'node:assert/strict'
import { readdir, readFile } from 'node:fs/promises'
import { suite, test } from 'node:test'
import type { z } from 'zod'
import { COMMAND_TYPES } from '../command.ts'
import { HARNESS_EVENT_TYPES } from '../harness-event.ts'
import { RECORD_VERSIONS, RECORDS } from '../record-definition.ts'
import type { ActivityType } from '../activity.ts'
import type { AgentEventType } from '../agent-event.ts'
import { controlSchemas } from './record.ts'
import { schemas } from './schemas.ts'

/** Exported types without a schema of their own, and why they need none. */
const WITHOUT_SCHEMA: Readonly<Record<string, readonly string[]>> = {
  'fields of other types, never stored or sent alone': [
    'ActivityBase',
    'CommandBase',
    'CostedUsage',
    'EventExtras',
    'MessageFields',
    'PartBase',
    'ToolOrigin',
  ],
  'one word of a larger type, checked there': [
    'ActivityType',
    'AgentEventType',
    'AppliesFrom',
    'BudgetLimit',
    'CallStage',
    'ChatEventType',
    'CommandState',
    'CommandType',
    'Effort',
    'ErrorCode',
    'HarnessEventType',
    'HarnessStatus',
    'MessageState',
    'OrchestrationAction',
    'PartState',
    'PermissionMode',
    'ReceiptStatus',
    'RecordType',
    'RejectReason',
    'ResyncReason',
    'SignalKind',
    'StreamKind',
    'TaskStatus',
    'WaitDecision',
    'WaitKind',
    'WireEffort',
  ],
  'live objects and functions': [
    'AgentDriver',
    'AgentSession',
    'FaultPoints',
    'Host',
    'Embed',
    'Member',
    'Membership',
    'Outbox',
    'MemoryServices',
    'MessageSearch',
    'MemoryThread',
    'ThreadMemory',
    'RawSpool',
    'Store',
    'WordIndex',
    'RecordFormat',
    'Redaction',
    'Upcaster',
    'UpcasterTable',
  ],
  'state in process, sent as a snapshot and ops': [
    'Head',
    'Lineage',
    'Reduced',
    'RunState',
    'ThreadMessage',
    'ThreadState',
    'ThreadView',
  ],
  'arguments and results of calls within a process': [
    'Admission',
    'Delivery',
    'Member',
    'Membership',
    'Append',
    'Blob',
    'Claim',
    'CommandOutcome',
    'CommandResult',
    'ContextRequest',
    'ContextUsage',
    'Decision',
    'DeleteResult',
    'EraseResult',
    'FieldRule',
    'FieldRules',
    'ForkReach',
    'FoundWords',
    'HandoverBudget',
    'HandoverNote',
    'HistoryQuery',
    'HostTool',
    'LogLevel',
    'MessageQuery',
    'MemoryBasis',
    'MemoryPlace',
    'MemoryContent',
    'MemoryModel',
    'ModelContext',
    'ModelOutput',
    'ModelOutputPart',
    'NewBlob',
    'NewCommand',
    'NewStream',
    'OptionRules',
    'Page',
    'AgentLimit',
    'NativeMessage',
    'NativeSessionInfo',
    'NativeSessions',
    'NewWords',
    'PageRequest',
    'RecordQuery',
    'WordsIndexed',
    'StepRequest',
    'StreamStart',
    'ToolCallRequest',
    'ToolOutcome',
    'ToolServer',
  ],
  'a record before its version was raised, whatever it holds': ['StoredRecord'],
  'names for the wire form of another type': ['HarnessEvent', 'Wire'],
}

/** Modules whose types are variants or fields of one type that has a schema. */
const COVERED_BY: Readonly<Record<string, keyof typeof schemas>> = {
  './harness-event.ts': 'WireEvent',
  './harness-event/content.ts': 'ContentEvent',
  './harness-event/conversation.ts': 'ConversationEvent',
  './harness-event/memory.ts': 'MemoryEvent',
  './harness-event/subagent.ts': 'SubagentEvent',
  './harness-event/tool.ts': 'ToolEvent',
  './harness-event/workspace.ts': 'WorkspaceEvent',
  './harness-content.ts': 'HarnessMessageContent',
  './harness-message.ts': 'HarnessMessage',
  './display-state.ts': 'HarnessDisplayState',
  './chat-event.ts': 'ChatEvent',
  './chat-message.ts': 'ChatMessage',
  './mcp.ts': 'AgentConfig',
  './agent-config.ts': 'AgentConfig',
}

/** Modules that hold only ports, callbacks and the types these take within one process. */
const IN_PROCESS: ReadonlySet<string> = new Set([
  './agent-harness.ts',
  './connectivity.ts',
  './runnable-tool.ts',
  './telemetry.ts',
])

interface ExportedType {
  readonly name: string
  readonly module: string
}

async function exportedTypes(): Promise<readonly ExportedType[]> {
  const doors = [
    '../index.ts',
    ...(await readdir(new URL('../doors', import.meta.url))).map((name) => `../doors/${name}`),
  ]
  const sources = await Promise.all(doors.map((door) => readFile(new URL(door, import.meta.url), 'utf8')))
  const clauses = sources.flatMap((source) => [...source.matchAll(/export (type )?\{([^}]*)\} from '\.\.?(\/[^']+)'/g)])
  return clauses.flatMap(([, onlyTypes, names = '', module = '']) =>
    names
      .split(',')
      .map((name) => name.trim())
      .filter((name) => name !== '' && (onlyTypes !== undefined || name.startsWith('type ')))
      .map((name) => ({ name: name.replace('type ', ''), module: `.${module}` })),
  )
}

/** The values of `type` that a union accepts. */
function tagsOf(schema: z.ZodType): readonly string[] {
  const values: unknown = schema._zod.propValues?.['type']
  assert.ok(values instanceof Set)
  return [...values].map(String).sort()
}

suite('no type that is stored or sent is without a schema', () => {
  test('every exported type has one, is part of one, or is listed with a reason', async () => {
    const exempt = new Set(Object.values(WITHOUT_SCHEMA).flat())
    const forgotten = (await exportedTypes())
      .filter(
        ({ name, module }) =>
          !(name in schemas) && !exempt.has(name) && !(module in COVERED_BY) && !IN_PROCESS.has(module),
      )
      .map(({ name }) => name)
    assert.deepEqual(forgotten, [], 'Give these a schema, or say in this test why they need none.')
  })

  test('nothing is listed that has a schema or does not exist', async () => {
    const names = new Set((await exportedTypes()).map(({ name }) => name))
    const stale = Object.values(WITHOUT_SCHEMA)
      .flat()
      .filter((name) => name in schemas || (!names.has(name) && name !== 'ErrorCode'))
    assert.deepEqual(stale, [])
  })

  test('every schema is that of an exported type', async () => {
    const names = new Set((await exportedTypes()).map(({ name }) => name))
    assert.deepEqual(
      Object.keys(schemas).filter((name) => !names.has(name) && !(name in controlSchemas)),
      [],
    )
  })

  test('a record is spelled once where it is defined, and by no schema', async () => {
    const read = (name: string): Promise<string> => readFile(new URL(name, import.meta.url), 'utf8')
    const files = (await readdir(new URL('.', import.meta.url))).filter((name) =>
      /^(?!.*\.test\.ts$).*\.ts$/.test(name),
    )
    const schemaSources = (await Promise.all(files.map(read))).join('\n')
    const types = Object.keys(RECORDS)
    assert.deepEqual(
      // Names of one word are also those of commands.
      types.filter((type) => type.includes('.') && schemaSources.includes(`'${type}'`)),
      [],
    )
    const names = [
      'records/control',
      'records/events',
      'records/erase',
      'control-record',
      'record',
      'record-definition',
    ]
    const lines = (await Promise.all(names.map((name) => read(`../${name}.ts`)))).flatMap((source) =>
      source.split('\n'),
    )
    const timesDefined = (type: string): number =>
      lines.filter((line) => line.startsWith(`  '${type}': {`) || line.startsWith(`  ${type}: {`)).length
    assert.deepEqual(
      types.filter((type) => timesDefined(type) !== 1),
      [],
    )
  })

  test('a record body may be of every type that has a version', () => {
    assert.deepEqual(tagsOf(schemas.RecordBody), Object.keys(RECORD_VERSIONS).sort())
  })

  test('an agent event may be of every type', () => {
    const types: Readonly<Record<AgentEventType, true>> = {
      start: true,
      'text-delta': true,
      'reasoning-delta': true,
      file: true,
      'tool-call': true,
      'tool-call-delta': true,
      'tool-approval-request': true,
      'tool-result': true,
      'tool-progress': true,
      'step-start': true,
      'step-finish': true,
      error: true,
      finish: true,
    }
    assert.deepEqual(tagsOf(schemas.AgentEvent), Object.keys(types).sort())
    const { file: _file, ...ofChats } = types
    assert.deepEqual(tagsOf(schemas.ChatEvent), Object.keys(ofChats).sort())
  })

  test('an activity may be of all eleven types', () => {
    const types: Readonly<Record<ActivityType, true>> = {
      agent: true,
      command: true,
      read: true,
      write: true,
      search: true,
      list: true,
      skill: true,
      orchestration: true,
      error: true,
      warning: true,
      unknown: true,
    }
    assert.deepEqual(tagsOf(schemas.ActivityEvent), Object.keys(types).sort())
  })

  test('a command may be of every type', () => {
    assert.deepEqual(tagsOf(schemas.Command), [...COMMAND_TYPES].sort())
  })

  test('a harness event may be of every type', () => {
    assert.deepEqual(tagsOf(schemas.WireEvent), [...HARNESS_EVENT_TYPES].sort())
  })
})
