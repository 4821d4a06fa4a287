/**
 * The fields of every record that is no agent event. The types and the schemas of records follow from this: a word names
 * the type of a field (`FieldTypes`), `word[]` is a list, `word|null` may be `null`, `{word}` is a map by any key, a list
 * of texts is the choice of one of them, and a name that ends in `?` is an optional field.
 */
export const CONTROL_FIELDS = {
  /** What accumulated of one open part since the last batch. Removed when the part is sealed. */
  batch: {
    event: 'BatchEvent',
  },
  /** A whole message at once: the user's, added context, a signal. */
  'message.added': {
    messageId: 'text',
    role: 'MessageRole',
    parts: 'Part[]',
    /** The time given with the message; the record's time when absent. */
    'createdAt?': 'number',
    'by?': 'text',
    'native?': 'NativeRef',
    'meta?': 'EventMeta',
  },
  /** One assistant message per model step. */
  'message.started': {
    messageId: 'text',
    role: 'MessageRole',
    'step?': 'number',
    'by?': 'text',
    'parentToolCallId?': 'text',
    'native?': 'NativeRef',
  },
  'message.ended': {
    messageId: 'text',
    outcome: ['done', 'interrupted'],
    'finishReason?': 'FinishReason',
    'usage?': 'UsageMetadata',
    'error?': 'ErrorData',
    'native?': 'NativeRef',
  },
  'run.started': {
    /** The caller chose the run's id. Stores look such runs up by id, so that no other run gets the same one. */
    'named?': 'true',
    runId: 'text',
    agentId: 'text',
    /** Who started it: the id of a harness or of an SDK agent. Only that one goes on with it, also after a restart. */
    'door?': 'text',
    'mode?': 'text',
    'model?': 'text',
    /** The rules in force at the start. A resumed run keeps at least their denies. */
    rules: 'PermissionRules',
    'requestContext?': 'object',
    /** What the caller set for the turns of the run. */
    'turn?': 'TurnDefaults',
  },
  'run.resumed': {
    runId: 'text',
    attempt: 'number',
    reason: ['crash', 'answer', 'takeover'],
  },
  /** The run waits for answers and needs no process. */
  'run.parked': {
    runId: 'text',
    waitIds: 'text[]',
  },
  'run.cancelled': {
    runId: 'text',
    receipt: 'CancelReceipt',
  },
  'run.ended': {
    runId: 'text',
    outcome: 'RunOutcome',
    'error?': 'ErrorData',
    /** The answer as data, if the turn asked for one. */
    'output?': 'json',
  },
  /** One agent takes the floor. */
  'turn.started': {
    turnId: 'text',
    agentId: 'text',
    'anchor?': 'text',
  },
  /** A process was started for the turn. Written before the agent gets its task, so that recovery can find and end it. */
  'turn.process': {
    turnId: 'text',
    process: 'ProcessNote',
  },
  /** Stands for the turn's single `finish`. */
  'turn.ended': {
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
  'step.started': {
    stepIndex: 'number',
    'attempt?': 'number',
    'request?': 'RequestRef',
  },
  'step.ended': {
    stepIndex: 'number',
    finishReason: 'FinishReason',
    'usage?': 'UsageIncrement',
    /** Set when the attempt failed. Its text stays visible and leaves the model's context. */
    'error?': 'ErrorData',
  },
  /** Committed before a tool runs. A call without a result after a crash is in doubt. */
  'call.started': {
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
  'wait.opened': {
    wait: 'WaitRequest',
    /** The tool call that waits, if one does. */
    'call?': 'PartAddress',
    /** What the asking tool needs to go on. Apart from the wait, so that nobody who sees the wait gets it. */
    'state?': 'text',
    /** Answered in the same transaction, with an answer given before: nobody is asked. */
    'answered?': 'true',
  },
  'wait.answered': {
    waitId: 'text',
    answer: 'Answer',
    /** The asker is gone. The answer is kept, and used once when the same question is asked again. */
    'detached?': 'true',
  },
  'wait.cancelled': {
    waitId: 'text',
    reason: 'WaitCancelReason',
  },
  'wait.superseded': {
    waitId: 'text',
    'byWaitId?': 'text',
  },
  'queue.added': {
    item: 'QueueItem',
    /** Puts the item at the front of the queue, e.g. when sending it failed. */
    'front?': 'true',
  },
  'queue.removed': {
    itemId: 'text',
    reason: ['heard', 'sent', 'dropped'],
  },
  /** After a cancel the queue is held until the next user act. */
  'queue.held': {
    held: 'flag',
  },
  /** An absent field means unchanged; `null` clears it. */
  'config.changed': {
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
  'tasks.changed': {
    tasks: 'TaskItem[]',
  },
  /** The files that a turn changed in a folder. What puts them back is kept on this machine, by the id of the turn. */
  'checkpoint.made': {
    checkpointId: 'text',
    root: 'text',
    files: 'CheckpointFile[]',
  },
  'binding.changed': {
    binding: 'Binding',
  },
  'binding.removed': {
    agentId: 'text',
  },
  /** Drops the messages up to `coversTo` from what the model sees. What stood in for older ones stays. */
  'context.cut': {
    coversTo: 'seq',
    /** How many messages the cut drops. */
    omitted: 'number',
    /** The generation this makes. Ignored unless it follows the present one. */
    generation: 'number',
    /** See `OmPointer`; so is `shortened`. */
    'keeps?': 'text[]',
    'shortened?': '{number}',
  },
  /** A summary takes the place of the messages up to `coversTo`. */
  compaction: {
    summary: 'BlobRef',
    coversTo: 'seq',
    /** The generation this makes. Ignored unless it follows the present one. */
    generation: 'number',
    'tokensBefore?': 'number',
    'tokensAfter?': 'number',
  },
  'child.started': {
    child: 'ChildLink',
  },
  'child.ended': {
    thread: 'text',
    runId: 'text',
    outcome: 'RunOutcome',
    'usage?': 'UsageIncrement',
  },
  /** The first record of a fork. It holds everything the fork keeps, so that folding it does not need the parent. */
  fork: {
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
  /** Moves the conversation to an earlier point of the stream or, as an un-rewind, to a later one. */
  rewind: {
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
  /** The content of `from`–`to` was overwritten everywhere it was kept. */
  erased: {
    from: 'seq',
    to: 'seq',
    'reason?': 'text',
  },
  'om.committed': {
    om: 'OmPointer',
    /** Compare-and-swap: the generation this one replaces. */
    replaces: 'number',
  },
  /** Something worth keeping that changes no state: warnings, hand-overs, violations, scores of a run. */
  note: {
    kind: ['info', 'warning', 'handover', 'policy-violation', 'receipt', 'budget', 'limit', 'score', 'feedback'],
    text: 'text',
    'data?': 'object',
  },
} as const
