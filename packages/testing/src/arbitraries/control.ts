import type {
  Answer,
  Goal,
  Grants,
  PatternRule,
  PermissionRules,
  Policy,
  TaskItem,
  ToolCategory,
  WaitCancelReason,
  WaitRequest,
  WaitSubject,
} from '@inspan/protocol'
import type { Binding } from '@inspan/protocol/driver'
import type { StoredLineage, LineageRange, ProcessNote } from '@inspan/protocol/log'
import * as fc from 'fast-check'
import {
  arbitraryCount,
  arbitraryErrorData,
  arbitraryId,
  arbitraryJsonObject,
  arbitraryJsonValue,
  arbitraryText,
  arbitraryTime,
} from './json.ts'
import { arbitraryToolName } from './agent-event.ts'
import { listOf, mapOf, shape } from './shape.ts'
import { arbitraryUsageTotals } from './usage.ts'

const policy: fc.Arbitrary<Policy> = fc.constantFrom('allow', 'ask', 'deny')
const category: fc.Arbitrary<ToolCategory> = fc.constantFrom('read', 'edit', 'execute', 'mcp', 'other')

const pattern: fc.Arbitrary<PatternRule> = shape<PatternRule>(
  { tool: arbitraryToolName, pattern: fc.constantFrom('git *', 'rm *', 'src/**', '*'), policy },
  { match: listOf(arbitraryText), notMatch: listOf(arbitraryText) },
)

export const arbitraryRules: fc.Arbitrary<PermissionRules> = shape<PermissionRules>(
  {
    categories: shape<PermissionRules['categories']>(
      {},
      { read: policy, edit: policy, execute: policy, mcp: policy, other: policy },
    ),
    tools: mapOf(arbitraryToolName, policy),
    patterns: listOf(pattern),
  },
  {},
)

export const arbitraryGrants: fc.Arbitrary<Grants> = shape<Grants>(
  { categories: listOf(category), tools: listOf(arbitraryToolName) },
  {},
)

export const arbitraryTasks: fc.Arbitrary<readonly TaskItem[]> = listOf(
  shape<TaskItem>(
    {
      id: arbitraryId,
      content: arbitraryText,
      status: fc.constantFrom('pending', 'in_progress', 'completed'),
      activeForm: arbitraryText,
    },
    {},
  ),
)

export const arbitraryGoal: fc.Arbitrary<Goal> = shape<Goal>(
  {
    objective: arbitraryText,
    status: fc.constantFrom('active', 'paused', 'done'),
    runsUsed: fc.nat({ max: 20 }),
    startedAt: arbitraryTime,
    updatedAt: arbitraryTime,
  },
  { maxRuns: fc.nat({ max: 20 }), judgeModelId: arbitraryText, prompt: arbitraryText, pausedReason: arbitraryText },
)

export const arbitraryBinding: fc.Arbitrary<Binding> = shape<Binding>(
  { agentId: arbitraryId, nativeId: arbitraryId, syncedTo: arbitraryCount },
  {
    anchor: arbitraryId,
    usageTotal: arbitraryUsageTotals,
    cwd: arbitraryText,
    version: fc.constantFrom('1.0.0', '2.1.325'),
    stale: fc.constantFrom('rewound', 'erased'),
    origin: fc.constant(true),
    extra: arbitraryJsonObject,
  },
)

export const arbitraryProcess: fc.Arbitrary<ProcessNote> = shape<ProcessNote>(
  { runTag: arbitraryId, pid: fc.integer({ min: 2, max: 4_194_304 }), startTime: arbitraryText, bootId: arbitraryId },
  {},
)

export const arbitraryProcesses: fc.Arbitrary<readonly ProcessNote[]> = listOf(arbitraryProcess, 2)

const subject: fc.Arbitrary<WaitSubject> = shape<WaitSubject>(
  {},
  {
    agentId: arbitraryId,
    toolCallId: arbitraryId,
    toolName: arbitraryToolName,
    args: arbitraryJsonObject,
    hash: fc.stringMatching(/^[0-9a-f]{16}$/),
    judgedAs: listOf(fc.stringMatching(/^[0-9a-f]{16}$/), 2),
  },
)

export const arbitraryWaitRequest: fc.Arbitrary<WaitRequest> = shape<WaitRequest>(
  {
    id: arbitraryId,
    kind: fc.constantFrom('approval', 'question', 'plan', 'access', 'tool', 'limit', 'child'),
    subject,
    description: arbitraryText,
  },
  {
    payload: arbitraryJsonObject,
    answerSchema: fc.constantFrom('{"type":"string"}', '{}'),
    resumable: fc.boolean(),
    preconditions: arbitraryJsonObject,
    interrupted: fc.constant(true),
    due: arbitraryTime,
  },
)

export const arbitraryAnswer: fc.Arbitrary<Answer> = shape<Answer>(
  { decision: fc.constantFrom('approve', 'decline', 'answer') },
  {
    value: arbitraryJsonValue,
    reason: arbitraryText,
    remember: fc.constantFrom('tool', 'category'),
    scope: fc.constantFrom('thread', 'resource'),
    error: arbitraryErrorData,
  },
)

export const arbitraryCancelReason: fc.Arbitrary<WaitCancelReason> = fc.constantFrom(
  'abort',
  'rewind',
  'delete',
  'timeout',
  'erase',
)

const range: fc.Arbitrary<LineageRange> = shape<LineageRange>(
  { stream: arbitraryId, from: arbitraryCount, to: fc.option(arbitraryCount) },
  {},
)

export const arbitraryLineage: fc.Arbitrary<StoredLineage> = listOf(range)
