import { withoutContent } from '../content-settings.ts'
import type {
  BatchRecord,
  CallStartedRecord,
  CheckpointMadeRecord,
  CompactionRecord,
  ConfigChangedRecord,
  ForkRecord,
  MessageAddedRecord,
  MessageEndedRecord,
  NoteRecord,
  QueueAddedRecord,
  RewindRecord,
  RunEndedRecord,
  RunStartedRecord,
  StepEndedRecord,
  StepStartedRecord,
  TasksChangedRecord,
  WaitAnsweredRecord,
  WaitOpenedRecord,
} from '../control-record.ts'
import {
  redactAddedPart,
  redactAnswer,
  redactData,
  redactFailure,
  redactMessage,
  redactTask,
  redactWait,
  type KindOf,
  type Redaction,
} from '../redact.ts'
import { ERASED, eraseBatch, eraseConfig, erasePart, eraseWait, withoutError } from './erase.ts'

/** Kinds of notes with only people's words, or only ours. */
const OWN_WORDS: ReadonlySet<string> = new Set(['feedback', 'handover', 'receipt', 'budget'])

/**
 * The definition of every record that is no agent event. Its type, its schema, its version and how it is erased and redacted follow
 * from it. `RecordDefinition` explains the members, `FieldTypes` the words.
 */
export const CONTROL_RECORDS = {
  /** What accumulated of one open part since the last batch. Removed when the part is sealed. */
  batch: {
    v: 1,
    fields: { event: 'BatchEvent' },
    // Not redacted: the sealed part replaces it.
    erase: (body: BatchRecord): BatchRecord => ({ ...body, event: eraseBatch(body.event) }),
  },
  /** A whole message at once: the user's, added context, a signal. */
  'message.added': {
    v: 1,
    barrier: true,
    fields: {
      messageId: 'text',
      role: 'MessageRole',
      parts: 'Part[]',
      /** The time given with the message; the record's time when absent. */
      'createdAt?': 'number',
      'by?': 'text',
      'native?': 'NativeRef',
      'meta?': 'EventMeta',
    },
    erase: (body: MessageAddedRecord): MessageAddedRecord => ({
      ...body,
      parts: body.parts.map(erasePart),
      meta: ERASED,
    }),
    redact: (body: MessageAddedRecord, redaction: Redaction): MessageAddedRecord => redactMessage(body, redaction),
  },
  /** One assistant message per model step. */
  'message.started': {
    v: 1,
    fields: {
      messageId: 'text',
      role: 'MessageRole',
      'step?': 'number',
      'by?': 'text',
      'parentToolCallId?': 'text',
      'native?': 'NativeRef',
    },
  },
  'message.ended': {
    v: 1,
    fields: {
      messageId: 'text',
      outcome: ['done', 'interrupted'],
      'finishReason?': 'FinishReason',
      'usage?': 'UsageMetadata',
      'error?': 'ErrorData',
      'native?': 'NativeRef',
    },
    erase: (body: MessageEndedRecord): MessageEndedRecord => withoutError(body),
    redact: (body: MessageEndedRecord, redaction: Redaction): MessageEndedRecord => redactFailure(body, redaction),
  },
  'run.started': {
    v: 1,
    barrier: true,
    fields: {
      /** The caller chose the run's id. Stores look such runs up by id, so that no other run gets the same one. */
      'named?': 'true',
      runId: 'text',
      agentId: 'text',
      /** Who started it: the id of a harness or of an SDK agent. Only that one continues it, also after a restart. */
      'door?': 'text',
      'mode?': 'text',
      'model?': 'text',
      /** The rules in force at the start. A resumed run keeps at least their denies. */
      rules: 'PermissionRules',
      'requestContext?': 'object',
      /** What the caller set for the turns of the run. */
      'turn?': 'TurnDefaults',
    },
    erase: (body: RunStartedRecord): RunStartedRecord => {
      const { requestContext: _context, turn: _turn, ...rest } = body
      return rest
    },
  },
  'run.resumed': {
    v: 1,
    fields: { runId: 'text', attempt: 'number', reason: ['crash', 'answer', 'takeover'] },
  },
  /** The run waits for answers and needs no process. */
  'run.parked': {
    v: 1,
    fields: { runId: 'text', waitIds: 'text[]' },
  },
  'run.cancelled': {
    v: 1,
    barrier: true,
    fields: { runId: 'text', receipt: 'CancelReceipt' },
  },
  'run.ended': {
    v: 1,
    barrier: true,
    fields: {
      runId: 'text',
      outcome: 'RunOutcome',
      'error?': 'ErrorData',
      /** The answer as data, if the turn asked for one. */
      'output?': 'json',
    },
    erase: (body: RunEndedRecord): RunEndedRecord => {
      const { error: _error, output: _output, ...rest } = body
      return rest
    },
    redact: (body: RunEndedRecord, redaction: Redaction): RunEndedRecord => ({
      ...redactFailure(body, redaction),
      ...(body.output === undefined ? {} : { output: redaction.json(body.output) }),
    }),
  },
  /** One agent takes the floor. */
  'turn.started': {
    v: 1,
    fields: { turnId: 'text', agentId: 'text', 'anchor?': 'text' },
  },
  /** A process was started for the turn. Written before the agent gets its task, so that recovery can find and end it. */
  'turn.process': {
    v: 1,
    barrier: true,
    fields: { turnId: 'text', process: 'ProcessNote' },
  },
  /** Stands for the turn's single `finish`. */
  'turn.ended': {
    v: 1,
    fields: {
      turnId: 'text',
      finishReason: 'FinishReason',
      outcome: 'RunOutcome',
      /** Usage of the whole turn. The steps' usage is already counted. */
      'usage?': 'UsageMetadata',
      /** The share of the usage that no step reported. */
      'increment?': 'UsageIncrement',
      /** The limit that ended the turn. */
      'limit?': 'BudgetLimit',
    },
  },
  'step.started': {
    v: 1,
    fields: { stepIndex: 'number', 'attempt?': 'number', 'request?': 'RequestRef' },
    erase: (body: StepStartedRecord): StepStartedRecord => {
      const { request: _request, ...rest } = body
      return rest
    },
  },
  'step.ended': {
    v: 1,
    fields: {
      stepIndex: 'number',
      finishReason: 'FinishReason',
      'usage?': 'UsageIncrement',
      /** Set when the attempt failed. Its text stays visible and leaves the model's context. */
      'error?': 'ErrorData',
    },
    erase: (body: StepEndedRecord): StepEndedRecord => withoutError(body),
    redact: (body: StepEndedRecord, redaction: Redaction): StepEndedRecord => redactFailure(body, redaction),
  },
  /** Committed before a tool runs. A call without a result after a crash is in doubt. */
  'call.started': {
    v: 1,
    barrier: true,
    fields: {
      messageId: 'text',
      partId: 'text',
      toolCallId: 'text',
      attempt: 'number',
      idempotencyKey: 'text',
      /** Hash of agent, tool, definition, arguments and directory. */
      'hash?': 'text',
      /** Hashes under which rules judged parts or other names of the call. */
      'judgedAs?': 'text[]',
      /** Hash of the tool's definition as it was when the call was allowed. */
      'definition?': 'text',
      'procs?': 'ProcessNote[]',
    },
    redact: (body: CallStartedRecord, redaction: Redaction): CallStartedRecord => ({
      ...body,
      toolCallId: redaction.text(body.toolCallId),
      idempotencyKey: redaction.text(body.idempotencyKey),
    }),
  },
  'wait.opened': {
    v: 1,
    barrier: true,
    fields: {
      wait: 'WaitRequest',
      /** The tool call that waits, if one does. */
      'call?': 'PartAddress',
      /** What the asking tool needs to go on. Apart from the wait, so that nobody who sees the wait gets it. */
      'state?': 'text',
      /** Answered in the same transaction, with an answer given before: nobody is asked. */
      'answered?': 'true',
    },
    erase: (body: WaitOpenedRecord): WaitOpenedRecord => ({
      type: body.type,
      ...(body.call === undefined ? {} : { call: body.call }),
      ...(body.answered === undefined ? {} : { answered: body.answered }),
      wait: eraseWait(body.wait),
    }),
    redact: (body: WaitOpenedRecord, redaction: Redaction): WaitOpenedRecord => ({
      ...body,
      wait: redactWait(body.wait, redaction),
    }),
  },
  'wait.answered': {
    v: 1,
    barrier: true,
    fields: {
      waitId: 'text',
      answer: 'Answer',
      /** The asker is gone. The answer is kept, and used once when the same question is asked again. */
      'detached?': 'true',
    },
    erase: (body: WaitAnsweredRecord): WaitAnsweredRecord => ({ ...body, answer: { decision: body.answer.decision } }),
    redact: (body: WaitAnsweredRecord, redaction: Redaction, kindOf: KindOf): WaitAnsweredRecord =>
      // The answer of an external tool is a result; what people answer are their own words.
      kindOf(body.waitId) === 'tool' ? { ...body, answer: redactAnswer(body.answer, redaction) } : body,
  },
  'wait.cancelled': {
    v: 1,
    barrier: true,
    fields: { waitId: 'text', reason: 'WaitCancelReason' },
  },
  'wait.superseded': {
    v: 1,
    barrier: true,
    fields: { waitId: 'text', 'byWaitId?': 'text' },
  },
  'queue.added': {
    v: 1,
    barrier: true,
    fields: {
      item: 'QueueItem',
      /** Puts the item at the front of the queue, e.g. when sending it failed. */
      'front?': 'true',
    },
    erase: (body: QueueAddedRecord): QueueAddedRecord => ({
      ...body,
      item: { id: body.item.id, lane: body.item.lane, parts: [] },
    }),
    redact: (body: QueueAddedRecord, redaction: Redaction): QueueAddedRecord => {
      // A hand-off passes on what an agent has said, such as its plan.
      if (body.item.lane !== 'hand-off') return body
      return { ...body, item: { ...body.item, parts: body.item.parts.map((part) => redactAddedPart(part, redaction)) } }
    },
  },
  'queue.removed': {
    v: 1,
    fields: { itemId: 'text', reason: ['heard', 'sent', 'dropped'] },
  },
  /** After a cancel the queue is held until the next user act. */
  'queue.held': {
    v: 1,
    fields: { held: 'flag' },
  },
  /** An absent field means unchanged; `null` clears it. */
  'config.changed': {
    v: 1,
    barrier: true,
    fields: {
      'mode?': 'text|null',
      'model?': 'text|null',
      'agentId?': 'text|null',
      'title?': 'text|null',
      'rules?': 'PermissionRules',
      'grants?': 'Grants',
      'yolo?': 'flag',
      'goal?': 'Goal|null',
      /** Merged key by key into the thread's settings. */
      'settings?': 'object',
      /** The user's own state, merged key by key. Kept apart from settings so that a schema can never strip a rule. */
      'state?': 'object',
    },
    erase: (body: ConfigChangedRecord): ConfigChangedRecord => eraseConfig(body),
    redact: (body: ConfigChangedRecord, redaction: Redaction): ConfigChangedRecord =>
      typeof body.title === 'string' ? { ...body, title: redaction.text(body.title) } : body,
  },
  'tasks.changed': {
    v: 1,
    fields: { tasks: 'TaskItem[]' },
    erase: (body: TasksChangedRecord): TasksChangedRecord => ({ ...body, tasks: [] }),
    redact: (body: TasksChangedRecord, redaction: Redaction): TasksChangedRecord => ({
      ...body,
      tasks: body.tasks.map((task) => redactTask(task, redaction)),
    }),
  },
  /** The files that a turn changed in a folder. What puts them back is kept on this machine, by the id of the turn. */
  'checkpoint.made': {
    v: 1,
    fields: { checkpointId: 'text', root: 'text', files: 'CheckpointFile[]' },
    erase: (body: CheckpointMadeRecord): CheckpointMadeRecord => ({ ...body, root: '', files: [] }),
  },
  'binding.changed': {
    v: 1,
    fields: { binding: 'Binding' },
  },
  'binding.removed': {
    v: 1,
    fields: { agentId: 'text' },
  },
  /** Drops the messages up to `coversTo` from what the model sees. What stood in for older ones stays. */
  'context.cut': {
    v: 1,
    barrier: true,
    fields: {
      coversTo: 'seq',
      /** How many messages the cut drops. */
      omitted: 'number',
      /** The generation this makes. Ignored unless it follows the present one. */
      generation: 'number',
      /** See `OmPointer`; so is `shortened`. */
      'keeps?': 'text[]',
      'shortened?': '{number}',
    },
  },
  /** A summary takes the place of the messages up to `coversTo`. */
  compaction: {
    v: 1,
    barrier: true,
    fields: {
      summary: 'BlobRef',
      coversTo: 'seq',
      /** The generation this makes. Ignored unless it follows the present one. */
      generation: 'number',
      'tokensBefore?': 'number',
      'tokensAfter?': 'number',
      /** See `OmPointer`; so are `keeps` and `shortened`. */
      'omitted?': 'number',
      'keeps?': 'text[]',
      'shortened?': '{number}',
    },
    erase: (body: CompactionRecord): CompactionRecord => {
      const { preview: _preview, ...summary } = body.summary
      return { ...body, summary }
    },
  },
  'child.started': {
    v: 1,
    barrier: true,
    fields: { child: 'ChildLink' },
  },
  'child.ended': {
    v: 1,
    barrier: true,
    fields: { thread: 'text', runId: 'text', outcome: 'RunOutcome', 'usage?': 'UsageIncrement' },
  },
  /** The first record of a fork. It holds everything the fork keeps, so that folding it does not need the parent. */
  fork: {
    v: 1,
    barrier: true,
    fields: {
      parent: 'text',
      at: 'seq',
      /** The parent's lineage up to and including `at`. */
      lineage: 'StoredLineage',
      keep: {
        mode: 'text|null',
        model: 'text|null',
        agentId: 'text|null',
        rules: 'PermissionRules',
        yolo: 'flag',
        settings: 'object',
        tasks: 'TaskItem[]',
        om: 'OmPointer|null',
        /** Empty except for a forked subagent, which keeps the session's grants. */
        grants: 'Grants',
        /** The parent's bindings, as places to start a native fork from. */
        origins: '{Binding}',
      },
    },
    erase: (body: ForkRecord): ForkRecord => ({
      ...body,
      keep: { ...body.keep, tasks: [], settings: withoutContent(body.keep.settings) },
    }),
  },
  /** Moves the conversation to an earlier point of the stream or, as an un-rewind, to a later one. */
  rewind: {
    v: 1,
    barrier: true,
    fields: {
      to: 'seq',
      /**
       * The lineage in force from here on, without the record's own open range. Absent when it equals the current lineage
       * up to `to`, so that the record stays small after a thousand rewinds.
       */
      'lineage?': 'StoredLineage',
      /** As they were at `to`. The fold keeps no history to look them up in. */
      tasks: 'TaskItem[]',
      om: 'OmPointer|null',
      'files?': { checkpointId: 'text' },
    },
    erase: (body: RewindRecord): RewindRecord => ({ ...body, tasks: [] }),
  },
  /** The content of `from`–`to` was overwritten everywhere it was kept. */
  erased: {
    v: 1,
    barrier: true,
    fields: { from: 'seq', to: 'seq', 'reason?': 'text' },
  },
  'om.committed': {
    v: 1,
    barrier: true,
    fields: {
      om: 'OmPointer',
      /** Compare-and-swap: the generation this one replaces. */
      replaces: 'number',
    },
  },
  /** Something worth keeping that changes no state: warnings, hand-overs, violations, scores of a run. */
  note: {
    v: 1,
    fields: {
      kind: ['info', 'warning', 'handover', 'policy-violation', 'receipt', 'budget', 'limit', 'score', 'feedback'],
      text: 'text',
      'data?': 'object',
    },
    erase: (body: NoteRecord): NoteRecord => ({ type: body.type, kind: body.kind, text: '' }),
    redact: (body: NoteRecord, redaction: Redaction): NoteRecord => {
      if (OWN_WORDS.has(body.kind)) return body
      return {
        ...body,
        text: redaction.text(body.text),
        ...(body.data === undefined ? {} : { data: redactData(body.data, redaction) }),
      }
    },
  },
} as const
