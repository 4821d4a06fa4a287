import type { CallOutcome } from '@inspan/protocol'
import type { TurnDefaults } from '@inspan/protocol/driver'
import {
  NOTIFICATION_SETTING,
  STATE_SIGNAL_SETTING,
  type BatchEvent,
  type CheckpointFile,
  type ChildLink,
  type OmPointer,
  type PartAddress,
  type QueueItem,
  type RecordBody,
  type RecordedFile,
  type RecordedToolResult,
  type RunOutcome,
} from '@inspan/protocol/log'
import * as fc from 'fast-check'
import { agentEventsByType, arbitraryEventMeta, arbitraryNativeRef } from './agent-event.ts'
import {
  arbitraryAnswer,
  arbitraryBinding,
  arbitraryCancelReason,
  arbitraryGoal,
  arbitraryGrants,
  arbitraryLineage,
  arbitraryProcess,
  arbitraryProcesses,
  arbitraryRules,
  arbitraryTasks,
  arbitraryWaitRequest,
} from './control.ts'
import {
  arbitraryBlobRef,
  arbitraryCount,
  arbitraryErrorData,
  arbitraryId,
  arbitraryJsonObject,
  arbitraryJsonValue,
  arbitraryText,
  arbitraryTime,
} from './json.ts'
import { arbitraryBudget, arbitraryTurnOutput } from './turn.ts'
import { arbitraryRole, arbitraryUserParts } from './message.ts'
import { listOf, mapOf, shape } from './shape.ts'
import { arbitraryFinishReason, arbitraryUsage, arbitraryUsageIncrement } from './usage.ts'

type MadeBodyOf<Type extends RecordBody['type']> = Extract<RecordBody, { type: Type }>

const address = { messageId: arbitraryId, partId: fc.nat({ max: 20 }).map(String) }
const arbitraryAddress: fc.Arbitrary<PartAddress> = shape<PartAddress>(address, {})

/** Adds an address to events, which every part record has. */
function addressed<T extends object>(events: fc.Arbitrary<T>): fc.Arbitrary<T & PartAddress> {
  return fc.tuple(events, arbitraryAddress).map(([event, place]) => ({ ...event, ...place }))
}

const batchEvent: fc.Arbitrary<BatchEvent> = fc.oneof(
  addressed(agentEventsByType['text-delta']),
  addressed(agentEventsByType['reasoning-delta']),
  addressed(agentEventsByType['tool-call-delta']),
  addressed(agentEventsByType['tool-progress']),
)

interface ResultExtras {
  readonly resultRef?: RecordedToolResult['resultRef'] & object
  readonly call?: PartAddress
  readonly outcome?: CallOutcome
}

const recordedFile: fc.Arbitrary<RecordedFile> = addressed(agentEventsByType.file)

const toolResult: fc.Arbitrary<RecordedToolResult> = fc
  .tuple(
    addressed(agentEventsByType['tool-result']),
    shape<ResultExtras>(
      {},
      {
        resultRef: arbitraryBlobRef,
        call: arbitraryAddress,
        outcome: fc.constantFrom('ok', 'error', 'denied', 'aborted', 'in-doubt'),
      },
    ),
  )
  .map(([event, more]) => ({ ...event, ...more }))

export const arbitraryRunOutcome: fc.Arbitrary<RunOutcome> = fc.constantFrom(
  'complete',
  'aborted',
  'error',
  'interrupted',
)

const arbitraryOmPointer: fc.Arbitrary<OmPointer> = shape<OmPointer>(
  {
    generation: fc.integer({ min: 1, max: 9 }),
    coversTo: arbitraryCount,
  },
  {
    blob: arbitraryBlobRef.map((ref) => ref.blob),
    holds: fc.constant('summary'),
    contentTo: arbitraryCount,
    omitted: arbitraryCount,
    keeps: listOf(arbitraryId),
    shortened: mapOf(arbitraryId, arbitraryCount),
  },
)

const arbitraryTurnDefaults: fc.Arbitrary<TurnDefaults> = shape<TurnDefaults>(
  {},
  {
    model: arbitraryText,
    effort: fc.constantFrom('none', 'minimal', 'low', 'medium', 'high', 'xhigh', 'max'),
    instructions: arbitraryText,
    cwd: arbitraryText,
    maxSteps: fc.integer({ min: 1, max: 50 }),
    providerOptions: arbitraryJsonObject,
    output: arbitraryTurnOutput,
    budget: arbitraryBudget,
    onLimit: fc.constantFrom('fail', 'park'),
  },
)

export const arbitraryQueueItem: fc.Arbitrary<QueueItem> = shape<QueueItem>(
  { id: arbitraryId, lane: fc.constantFrom('follow-up', 'steer', 'hand-off'), parts: arbitraryUserParts },
  {
    by: arbitraryId,
    agentId: arbitraryId,
    door: arbitraryId,
    messageId: arbitraryId,
    requestContext: arbitraryJsonObject,
    turn: arbitraryTurnDefaults,
  },
)

/** Some keys repeat, some are removed, some hold content. */
const arbitrarySettings = fc.oneof(
  arbitraryJsonObject,
  mapOf(
    fc.constantFrom('theme', `${NOTIFICATION_SETTING}1`, `${NOTIFICATION_SETTING}2`, `${STATE_SIGNAL_SETTING}1`),
    fc.oneof(arbitraryJsonObject, fc.constant(null)),
    4,
  ),
)

export const arbitraryConfigChange: fc.Arbitrary<MadeBodyOf<'config.changed'>> = shape<MadeBodyOf<'config.changed'>>(
  { type: fc.constant('config.changed') },
  {
    mode: fc.option(fc.constantFrom('plan', 'build')),
    model: fc.option(fc.constantFrom('openai/gpt', 'anthropic/claude')),
    agentId: fc.option(arbitraryId),
    title: fc.option(arbitraryText),
    rules: arbitraryRules,
    grants: arbitraryGrants,
    yolo: fc.boolean(),
    goal: fc.option(arbitraryGoal),
    settings: arbitrarySettings,
    state: arbitraryJsonObject,
  },
)

export const arbitraryCheckpointFiles: fc.Arbitrary<readonly CheckpointFile[]> = listOf(
  shape<CheckpointFile>({ path: arbitraryText, change: fc.constantFrom('added', 'changed', 'removed') }, {}),
)

const arbitraryChild: fc.Arbitrary<ChildLink> = shape<ChildLink>(
  { thread: arbitraryId, runId: arbitraryId, agentId: arbitraryId },
  { toolCallId: arbitraryId, background: fc.constant(true) },
)

const nullableText = fc.option(arbitraryText)

/** One arbitrary per type. A new type of the protocol does not compile until it has one here. */
export const recordBodiesByType: { readonly [Type in RecordBody['type']]: fc.Arbitrary<MadeBodyOf<Type>> } = {
  'text-delta': addressed(agentEventsByType['text-delta']),
  'reasoning-delta': addressed(agentEventsByType['reasoning-delta']),
  file: recordedFile,
  'tool-call': addressed(agentEventsByType['tool-call']),
  'tool-result': toolResult,
  error: agentEventsByType.error,
  batch: shape<MadeBodyOf<'batch'>>({ type: fc.constant('batch'), event: batchEvent }, {}),
  'message.added': shape<MadeBodyOf<'message.added'>>(
    { type: fc.constant('message.added'), messageId: arbitraryId, role: arbitraryRole, parts: arbitraryUserParts },
    { createdAt: arbitraryTime, by: arbitraryId, native: arbitraryNativeRef, meta: arbitraryEventMeta },
  ),
  'message.started': shape<MadeBodyOf<'message.started'>>(
    { type: fc.constant('message.started'), messageId: arbitraryId, role: arbitraryRole },
    { step: fc.nat({ max: 50 }), by: arbitraryId, parentToolCallId: arbitraryId, native: arbitraryNativeRef },
  ),
  'message.ended': shape<MadeBodyOf<'message.ended'>>(
    { type: fc.constant('message.ended'), messageId: arbitraryId, outcome: fc.constantFrom('done', 'interrupted') },
    {
      finishReason: arbitraryFinishReason,
      usage: arbitraryUsage,
      error: arbitraryErrorData,
      native: arbitraryNativeRef,
    },
  ),
  'run.started': shape<MadeBodyOf<'run.started'>>(
    { type: fc.constant('run.started'), runId: arbitraryId, agentId: arbitraryId, rules: arbitraryRules },
    {
      named: fc.constant(true),
      door: arbitraryText,
      mode: arbitraryText,
      model: arbitraryText,
      requestContext: arbitraryJsonObject,
      turn: arbitraryTurnDefaults,
    },
  ),
  'run.resumed': shape<MadeBodyOf<'run.resumed'>>(
    {
      type: fc.constant('run.resumed'),
      runId: arbitraryId,
      attempt: fc.integer({ min: 2, max: 3 }),
      reason: fc.constantFrom('crash', 'answer', 'takeover'),
    },
    {},
  ),
  'run.parked': shape<MadeBodyOf<'run.parked'>>(
    { type: fc.constant('run.parked'), runId: arbitraryId, waitIds: listOf(arbitraryId) },
    {},
  ),
  'run.cancelled': shape<MadeBodyOf<'run.cancelled'>>(
    {
      type: fc.constant('run.cancelled'),
      runId: arbitraryId,
      receipt: shape<MadeBodyOf<'run.cancelled'>['receipt']>(
        {
          how: fc.constantFrom('clean', 'killed', 'gone'),
          calls: listOf(arbitraryId),
          orphansKilled: fc.nat({ max: 9 }),
          queued: listOf(arbitraryId),
        },
        {},
      ),
    },
    {},
  ),
  'run.ended': shape<MadeBodyOf<'run.ended'>>(
    { type: fc.constant('run.ended'), runId: arbitraryId, outcome: arbitraryRunOutcome },
    { error: arbitraryErrorData, output: arbitraryJsonValue },
  ),
  'turn.started': shape<MadeBodyOf<'turn.started'>>(
    { type: fc.constant('turn.started'), turnId: arbitraryId, agentId: arbitraryId },
    { anchor: arbitraryId },
  ),
  'turn.process': shape<MadeBodyOf<'turn.process'>>(
    { type: fc.constant('turn.process'), turnId: arbitraryId, process: arbitraryProcess },
    {},
  ),
  'turn.ended': shape<MadeBodyOf<'turn.ended'>>(
    {
      type: fc.constant('turn.ended'),
      turnId: arbitraryId,
      finishReason: arbitraryFinishReason,
      outcome: arbitraryRunOutcome,
    },
    {
      usage: arbitraryUsage,
      increment: arbitraryUsageIncrement,
      limit: fc.constantFrom('tokens', 'usd', 'ms'),
    },
  ),
  'step.started': shape<MadeBodyOf<'step.started'>>(
    { type: fc.constant('step.started'), stepIndex: fc.nat({ max: 50 }) },
    {
      attempt: fc.integer({ min: 1, max: 3 }),
      request: shape<NonNullable<MadeBodyOf<'step.started'>['request']>>(
        {},
        { system: arbitraryBlobRef, tools: arbitraryBlobRef, model: arbitraryText },
      ),
    },
  ),
  'step.ended': shape<MadeBodyOf<'step.ended'>>(
    { type: fc.constant('step.ended'), stepIndex: fc.nat({ max: 50 }), finishReason: arbitraryFinishReason },
    { usage: arbitraryUsageIncrement, error: arbitraryErrorData },
  ),
  'call.started': shape<MadeBodyOf<'call.started'>>(
    {
      type: fc.constant('call.started'),
      ...address,
      toolCallId: arbitraryId,
      attempt: fc.integer({ min: 1, max: 3 }),
      idempotencyKey: arbitraryId,
    },
    {
      hash: arbitraryId,
      judgedAs: fc.array(arbitraryId, { maxLength: 2 }),
      definition: arbitraryId,
      procs: arbitraryProcesses,
    },
  ),
  'wait.opened': shape<MadeBodyOf<'wait.opened'>>(
    { type: fc.constant('wait.opened'), wait: arbitraryWaitRequest },
    { call: arbitraryAddress, state: fc.string(), answered: fc.constant(true) },
  ),
  'wait.answered': shape<MadeBodyOf<'wait.answered'>>(
    { type: fc.constant('wait.answered'), waitId: arbitraryId, answer: arbitraryAnswer },
    { detached: fc.constant(true) },
  ),
  'wait.cancelled': shape<MadeBodyOf<'wait.cancelled'>>(
    { type: fc.constant('wait.cancelled'), waitId: arbitraryId, reason: arbitraryCancelReason },
    {},
  ),
  'wait.superseded': shape<MadeBodyOf<'wait.superseded'>>(
    { type: fc.constant('wait.superseded'), waitId: arbitraryId },
    { byWaitId: arbitraryId },
  ),
  'queue.added': shape<MadeBodyOf<'queue.added'>>(
    { type: fc.constant('queue.added'), item: arbitraryQueueItem },
    { front: fc.constant(true) },
  ),
  'queue.removed': shape<MadeBodyOf<'queue.removed'>>(
    {
      type: fc.constant('queue.removed'),
      itemId: arbitraryId,
      reason: fc.constantFrom('heard', 'sent', 'dropped'),
    },
    {},
  ),
  'queue.held': shape<MadeBodyOf<'queue.held'>>({ type: fc.constant('queue.held'), held: fc.boolean() }, {}),
  'config.changed': arbitraryConfigChange,
  'tasks.changed': shape<MadeBodyOf<'tasks.changed'>>(
    { type: fc.constant('tasks.changed'), tasks: arbitraryTasks },
    {},
  ),
  'checkpoint.made': shape<MadeBodyOf<'checkpoint.made'>>(
    {
      type: fc.constant('checkpoint.made'),
      checkpointId: arbitraryId,
      root: arbitraryText,
      files: arbitraryCheckpointFiles,
    },
    {},
  ),
  'binding.changed': shape<MadeBodyOf<'binding.changed'>>(
    { type: fc.constant('binding.changed'), binding: arbitraryBinding },
    {},
  ),
  'binding.removed': shape<MadeBodyOf<'binding.removed'>>(
    { type: fc.constant('binding.removed'), agentId: arbitraryId },
    {},
  ),
  fork: shape<MadeBodyOf<'fork'>>(
    {
      type: fc.constant('fork'),
      parent: arbitraryId,
      at: arbitraryCount,
      lineage: arbitraryLineage,
      keep: shape<MadeBodyOf<'fork'>['keep']>(
        {
          mode: nullableText,
          model: nullableText,
          agentId: fc.option(arbitraryId),
          rules: arbitraryRules,
          yolo: fc.boolean(),
          settings: arbitraryJsonObject,
          tasks: arbitraryTasks,
          om: fc.option(arbitraryOmPointer),
          grants: arbitraryGrants,
          origins: mapOf(arbitraryId, arbitraryBinding, 2),
        },
        {},
      ),
    },
    {},
  ),
  rewind: shape<MadeBodyOf<'rewind'>>(
    {
      type: fc.constant('rewind'),
      to: arbitraryCount,
      tasks: arbitraryTasks,
      om: fc.option(arbitraryOmPointer),
    },
    {
      lineage: arbitraryLineage,
      files: shape<NonNullable<MadeBodyOf<'rewind'>['files']>>({ checkpointId: arbitraryId }, {}),
    },
  ),
  erased: shape<MadeBodyOf<'erased'>>(
    { type: fc.constant('erased'), from: arbitraryCount, to: arbitraryCount },
    { reason: arbitraryText },
  ),
  'om.committed': shape<MadeBodyOf<'om.committed'>>(
    { type: fc.constant('om.committed'), om: arbitraryOmPointer, replaces: fc.nat({ max: 8 }) },
    {},
  ),
  'context.cut': shape<MadeBodyOf<'context.cut'>>(
    {
      type: fc.constant('context.cut'),
      coversTo: arbitraryCount,
      omitted: arbitraryCount,
      generation: fc.integer({ min: 1, max: 9 }),
    },
    { keeps: listOf(arbitraryId), shortened: mapOf(arbitraryId, arbitraryCount) },
  ),
  compaction: shape<MadeBodyOf<'compaction'>>(
    {
      type: fc.constant('compaction'),
      summary: arbitraryBlobRef,
      coversTo: arbitraryCount,
      generation: fc.integer({ min: 1, max: 9 }),
    },
    {
      tokensBefore: arbitraryCount,
      tokensAfter: arbitraryCount,
      omitted: arbitraryCount,
      keeps: listOf(arbitraryId),
      shortened: mapOf(arbitraryId, arbitraryCount),
    },
  ),
  'child.started': shape<MadeBodyOf<'child.started'>>(
    { type: fc.constant('child.started'), child: arbitraryChild },
    {},
  ),
  'child.ended': shape<MadeBodyOf<'child.ended'>>(
    {
      type: fc.constant('child.ended'),
      thread: arbitraryId,
      runId: arbitraryId,
      outcome: arbitraryRunOutcome,
    },
    { usage: arbitraryUsageIncrement },
  ),
  note: shape<MadeBodyOf<'note'>>(
    {
      type: fc.constant('note'),
      kind: fc.constantFrom(
        'info',
        'warning',
        'handover',
        'policy-violation',
        'receipt',
        'budget',
        'score',
        'feedback',
        'limit',
      ),
      text: arbitraryText,
    },
    { data: arbitraryJsonObject },
  ),
}

export const arbitraryRecordBody: fc.Arbitrary<RecordBody> = fc.oneof(...Object.values(recordBodiesByType))
