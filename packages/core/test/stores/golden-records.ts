import { RECORD_VERSIONS, type LogRecord, type RecordBody } from '@evener/protocol'

/** The blob that the memory record of the golden thread refers to. */
export const GOLDEN_BLOB = 'The user likes short answers.'
const GOLDEN_BLOB_HASH = '7da82a8846b48c8637f8ceb6bae06d3a9a26f6856a6cede39797ce4dec9ff600'

const RULES = { categories: { edit: 'ask' }, tools: { rm: 'deny' }, patterns: [] } as const
const OM = { generation: 1, coversTo: 20, blob: GOLDEN_BLOB_HASH } as const

/** A thread in which every type of record occurs, and which was left with an open part by a process that died. */
export const MAIN_BODIES: readonly RecordBody[] = [
  /*  1 */ {
    type: 'config.changed',
    mode: 'build',
    model: 'provider/model',
    agentId: 'coder',
    title: 'Golden',
    rules: RULES,
    grants: { categories: ['read'], tools: ['ls'] },
    yolo: false,
    goal: { objective: 'Keep old threads readable', status: 'active', runsUsed: 1, startedAt: 10, updatedAt: 20 },
    settings: { theme: 'dark', gone: true },
    state: { count: 1 },
  },
  /*  2 */ {
    type: 'message.added',
    messageId: 'm1',
    role: 'user',
    parts: [{ id: '0', type: 'text', text: 'Say hello 👋 and list the files.' }],
    by: 'user-1',
  },
  /*  3 */ { type: 'run.started', runId: 'run-1', agentId: 'coder', rules: RULES, requestContext: { lang: 'en' } },
  /*  4 */ {
    type: 'turn.started',
    turnId: 'turn-1',
    agentId: 'coder',
    anchor: 'native-1',
  },
  /*  5 */ { type: 'step.started', stepIndex: 0, request: { model: 'provider/model' } },
  /*  6 */ { type: 'message.started', messageId: 'm2', role: 'assistant', step: 0, by: 'coder' },
  /*  7 */ { type: 'batch', event: { type: 'text-delta', messageId: 'm2', partId: '0', text: 'Hel' } },
  /*  8 */ { type: 'batch', event: { type: 'text-delta', messageId: 'm2', partId: '0', text: 'lo' } },
  /*  9 */ { type: 'text-delta', messageId: 'm2', partId: '0', text: 'Hello' },
  /* 10 */ { type: 'reasoning-delta', messageId: 'm2', partId: '1', text: 'Now the files.' },
  /* 11 */ {
    type: 'tool-call',
    messageId: 'm2',
    partId: '2',
    toolCallId: 'call-1',
    toolName: 'list_files',
    args: { path: '.' },
  },
  /* 12 */ {
    type: 'wait.opened',
    wait: {
      id: 'wait-1',
      kind: 'approval',
      subject: { toolCallId: 'call-1', toolName: 'list_files', args: { path: '.' }, hash: 'abc' },
      description: 'List the files?',
    },
    call: { messageId: 'm2', partId: '2' },
  },
  /* 13 */ { type: 'run.parked', runId: 'run-1', waitIds: ['wait-1'] },
  /* 14 */ { type: 'wait.answered', waitId: 'wait-1', answer: { decision: 'approve' } },
  /* 15 */ { type: 'run.resumed', runId: 'run-1', attempt: 2, reason: 'answer' },
  /* 16 */ {
    type: 'call.started',
    messageId: 'm2',
    partId: '2',
    toolCallId: 'call-1',
    attempt: 1,
    idempotencyKey: 'run-1:call-1',
    hash: 'abc',
  },
  /* 17 */ {
    type: 'tool-result',
    messageId: 'm2',
    partId: '3',
    toolCallId: 'call-1',
    toolName: 'list_files',
    result: ['a.txt', 'b.txt'],
    call: { messageId: 'm2', partId: '2' },
    outcome: 'ok',
  },
  /* 18 */ { type: 'error', error: { name: 'Error', message: 'a hiccup' } },
  /* 19 */ {
    type: 'step.ended',
    stepIndex: 0,
    finishReason: 'stop',
    usage: { inputTokens: 10, outputTokens: 5, totalTokens: 15, costUsd: 0.5, source: 'reported', scope: 'own' },
  },
  /* 20 */ {
    type: 'message.ended',
    messageId: 'm2',
    outcome: 'done',
    finishReason: 'stop',
    usage: { inputTokens: 10, outputTokens: 5, totalTokens: 15 },
  },
  /* 21 */ {
    type: 'tasks.changed',
    tasks: [{ id: 'task-1', content: 'List files', status: 'completed', activeForm: 'Listing files' }],
  },
  /* 22 */ { type: 'checkpoint.made', checkpointId: 'cp-1', messageId: 'm1', ref: { commit: 'deadbeef' } },
  /* 23 */ {
    type: 'binding.changed',
    binding: { agentId: 'coder', nativeId: 'native', syncedTo: 20, anchor: 'native-2' },
  },
  /* 24 */ { type: 'binding.changed', binding: { agentId: 'other', nativeId: 'theirs', syncedTo: 20 } },
  /* 25 */ { type: 'binding.removed', agentId: 'other' },
  /* 26 */ {
    type: 'queue.added',
    item: { id: 'queued-1', lane: 'follow-up', parts: [{ id: '0', type: 'text', text: 'And then?' }] },
  },
  /* 27 */ {
    type: 'queue.added',
    item: { id: 'queued-2', lane: 'steer', parts: [{ id: '0', type: 'text', text: 'Shorter!' }], by: 'user-1' },
    front: true,
  },
  /* 28 */ { type: 'queue.removed', itemId: 'queued-1', reason: 'dropped' },
  /* 29 */ { type: 'queue.held', held: true },
  /* 30 */ { type: 'om.committed', om: OM, replaces: 0 },
  /* 31 */ { type: 'note', kind: 'warning', text: 'The disk is nearly full.', data: { left: 12 } },
  /* 32 */ {
    type: 'turn.ended',
    turnId: 'turn-1',
    finishReason: 'stop',
    outcome: 'complete',
    usage: { inputTokens: 10, outputTokens: 5 },
    increment: { inputTokens: 3, outputTokens: 1, source: 'estimated', scope: 'subagents' },
  },
  /* 33 */ { type: 'run.ended', runId: 'run-1', outcome: 'complete' },
  /* 34 */ {
    type: 'wait.opened',
    wait: { id: 'wait-2', kind: 'question', subject: {}, description: 'Which one?', payload: { options: ['a', 'b'] } },
  },
  /* 35 */ { type: 'wait.superseded', waitId: 'wait-2', byWaitId: 'wait-3' },
  /* 36 */ { type: 'wait.opened', wait: { id: 'wait-3', kind: 'plan', subject: {}, description: 'Go on like this?' } },
  /* 37 */ { type: 'wait.cancelled', waitId: 'wait-3', reason: 'abort' },
  /* 38 */ { type: 'run.started', runId: 'run-2', agentId: 'coder', rules: RULES },
  /* 39 */ {
    type: 'run.cancelled',
    runId: 'run-2',
    receipt: { how: 'clean', calls: [], orphansKilled: 0, queued: ['queued-2'] },
  },
  /* 40 */ { type: 'run.ended', runId: 'run-2', outcome: 'aborted' },
  /* 41 */ { type: 'message.added', messageId: 'm3', role: 'user', parts: [{ id: '0', type: 'text', text: '' }] },
  /* 42 */ { type: 'erased', from: 41, to: 41, reason: 'asked for' },
  /* 43 */ { type: 'config.changed', mode: 'plan', settings: { gone: null } },
  /* 44 */ { type: 'run.started', runId: 'run-3', agentId: 'coder', rules: RULES },
  /* 45 */ { type: 'message.started', messageId: 'm4', role: 'assistant' },
  /* 46 */ { type: 'batch', event: { type: 'text-delta', messageId: 'm4', partId: '0', text: 'Half a se' } },
  /* 47 */ {
    type: 'turn.process',
    turnId: 'turn-3',
    process: { runTag: 'tag', pid: 4711, startTime: '1', bootId: 'boot' },
  },
]

/** Where the fork leaves the main thread. */
export const FORK_AT = 33

export const FORK_BODIES: readonly RecordBody[] = [
  /* 34 */ {
    type: 'fork',
    parent: 'main',
    at: FORK_AT,
    lineage: [{ stream: 'main', from: 1, to: FORK_AT }],
    keep: {
      mode: 'build',
      model: 'provider/model',
      agentId: 'coder',
      rules: RULES,
      yolo: false,
      settings: { theme: 'dark' },
      tasks: [{ id: 'task-1', content: 'List files', status: 'completed', activeForm: 'Listing files' }],
      om: OM,
      grants: { categories: [], tools: [] },
      origins: { coder: { agentId: 'coder', nativeId: 'native', syncedTo: 20, anchor: 'native-2', origin: true } },
    },
  },
  /* 35 */ {
    type: 'message.added',
    messageId: 'f1',
    role: 'user',
    parts: [{ id: '0', type: 'text', text: 'Another way.' }],
  },
  /* 36 */ { type: 'rewind', to: 2, lineage: [{ stream: 'main', from: 1, to: 2 }], tasks: [], om: null },
  /* 37 */ {
    type: 'message.added',
    messageId: 'f2',
    role: 'user',
    parts: [{ id: '0', type: 'text', text: 'From the start.' }],
  },
]

/** The records as they were written: the ninth took the place of the batches before it. */
export function goldenRecords(stream: string, bodies: readonly RecordBody[], from: number): LogRecord[] {
  return bodies.map((body, index) => ({
    v: RECORD_VERSIONS[body.type],
    stream,
    seq: from + index,
    at: 1_000_000 + from + index,
    ...(body.type === 'text-delta' ? { first: 7 } : {}),
    ...(stream === 'main' && from + index >= 3 && from + index <= 33 ? { run: 'run-1' } : {}),
    body,
  }))
}
