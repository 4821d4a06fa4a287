import { createHash } from 'node:crypto'
import { NOTIFICATION_SETTING, type ForkRecord, type RecordBody } from '@inspan/protocol/log'

/** What the memory record of the golden thread refers to. */
export const GOLDEN_MEMORY = 'The user likes short answers.'
/** Too large to stand in its row. */
export const GOLDEN_LARGE: string = 'A long line of the file. '.repeat(1500)

const RULES = { categories: { edit: 'ask' }, tools: { rm: 'deny' }, patterns: [] } as const
const OM = { generation: 1, coversTo: 20, blob: createHash('sha256').update(GOLDEN_MEMORY).digest('hex') } as const
const TASKS = [{ id: 'task-1', content: 'List files', status: 'completed', activeForm: 'Listing files' }] as const
const GOAL = {
  objective: 'Keep old threads readable',
  status: 'active',
  runsUsed: 1,
  startedAt: 10,
  updatedAt: 20,
} as const
const SUBJECT = {
  toolCallId: 'call-1',
  toolName: 'list_files',
  args: { path: '.' },
  hash: 'abc',
  judgedAs: ['def'],
} as const

/** Records that are committed together, and the run they belong to. */
export interface GoldenStep {
  readonly run?: string
  readonly bodies: readonly RecordBody[]
}

/** A thread in which every type of record and every field occurs, left with an open part by a process that died. */
export const GOLDEN_MAIN: readonly GoldenStep[] = [
  {
    bodies: [
      {
        type: 'config.changed',
        mode: 'build',
        model: 'provider/model',
        agentId: 'coder',
        title: 'Golden',
        rules: RULES,
        grants: { categories: ['read'], tools: ['ls'] },
        yolo: true,
        goal: { ...GOAL, maxRuns: 5, judgeModelId: 'provider/judge', prompt: 'Be strict.', pausedReason: 'none' },
        settings: {
          theme: 'dark',
          gone: true,
          [`${NOTIFICATION_SETTING}1`]: { summary: 'A letter', threadId: 'main' },
        },
        state: { count: 1 },
      },
    ],
  },
  {
    run: 'run-1',
    bodies: [
      {
        type: 'run.started',
        named: true,
        runId: 'run-1',
        agentId: 'coder',
        mode: 'build',
        model: 'provider/model',
        rules: RULES,
        requestContext: { lang: 'en' },
        turn: {
          model: 'provider/model',
          instructions: 'Be brief.',
          maxSteps: 3,
          output: { schema: { type: 'object' } },
          budget: { usd: 1 },
        },
      },
      {
        type: 'message.added',
        messageId: 'm1',
        role: 'user',
        parts: [
          { id: '0', type: 'text', text: 'Say hello 👋 and list the files.' },
          { id: '1', type: 'image', mimeType: 'image/png', data: 'aGVsbG8=', fileName: 'hello.png' },
          { id: '2', type: 'signal', kind: 'system_reminder', text: 'It is late.', data: { why: 'clock' } },
        ],
        createdAt: 1_000_001,
        by: 'user-1',
        meta: { provider: { cache: true } },
      },
      { type: 'turn.started', turnId: 'turn-1', agentId: 'coder', anchor: 'native-1' },
      {
        type: 'turn.process',
        turnId: 'turn-1',
        process: { runTag: 'tag', pid: 4711, startTime: '1', bootId: 'boot' },
      },
      { type: 'step.started', stepIndex: 0, attempt: 2, request: { model: 'provider/model' } },
      {
        type: 'message.started',
        messageId: 'm2',
        role: 'assistant',
        step: 0,
        by: 'coder',
        native: { sessionId: 'native', messageId: 'native-m' },
      },
      { type: 'text-delta', messageId: 'm2', partId: '0', text: 'Hello' },
      {
        type: 'reasoning-delta',
        messageId: 'm2',
        partId: '1',
        text: 'Now the files.',
        meta: { provider: { sig: 's' } },
      },
      {
        type: 'tool-call',
        messageId: 'm2',
        partId: '2',
        toolCallId: 'call-1',
        toolName: 'list_files',
        args: { path: '.' },
        serverName: 'files',
        annotations: { readOnlyHint: true },
      },
      {
        type: 'wait.opened',
        wait: {
          id: 'wait-1',
          kind: 'approval',
          subject: SUBJECT,
          description: 'List the files?',
          payload: { path: '.' },
          answerSchema: '{}',
          resumable: true,
          preconditions: { hash: 'content' },
          interrupted: true,
        },
        call: { messageId: 'm2', partId: '2' },
      },
      { type: 'run.parked', runId: 'run-1', waitIds: ['wait-1'] },
    ],
  },
  {
    run: 'run-1',
    bodies: [
      { type: 'wait.answered', waitId: 'wait-1', answer: { decision: 'approve', remember: 'tool', reason: 'Fine' } },
      { type: 'run.resumed', runId: 'run-1', attempt: 2, reason: 'answer' },
      {
        type: 'call.started',
        messageId: 'm2',
        partId: '2',
        toolCallId: 'call-1',
        attempt: 1,
        idempotencyKey: 'run-1:call-1',
        hash: 'abc',
        judgedAs: ['def'],
        definition: 'definition-1',
      },
      {
        type: 'tool-result',
        messageId: 'm2',
        partId: '3',
        toolCallId: 'call-1',
        toolName: 'list_files',
        result: GOLDEN_LARGE,
        call: { messageId: 'm2', partId: '2' },
        outcome: 'ok',
      },
      { type: 'file', messageId: 'm2', partId: '4', mimeType: 'image/png', data: 'iVBORw0KGgo=', fileName: 'a.png' },
      { type: 'file', messageId: 'm2', partId: '5', mimeType: 'text/csv', data: '', url: 'https://example.org/a.csv' },
      { type: 'error', error: { name: 'Error', message: 'a hiccup' }, code: 'E_HICCUP' },
      { type: 'tasks.changed', tasks: TASKS },
      {
        type: 'message.ended',
        messageId: 'm2',
        outcome: 'done',
        finishReason: 'stop',
        usage: { inputTokens: 10, outputTokens: 5, totalTokens: 15 },
      },
      {
        type: 'step.ended',
        stepIndex: 0,
        finishReason: 'stop',
        usage: { inputTokens: 10, outputTokens: 5, totalTokens: 15, costUsd: 0.5, source: 'reported', scope: 'own' },
      },
      {
        type: 'checkpoint.made',
        checkpointId: 'cp-1',
        root: '/project',
        files: [{ path: 'a.txt', change: 'changed' }],
      },
      {
        type: 'child.started',
        child: { thread: 'child', runId: 'run-c', agentId: 'coder', toolCallId: 'c1', background: true },
      },
      { type: 'child.started', child: { thread: 'child-2', runId: 'run-d', agentId: 'coder' } },
      {
        type: 'child.ended',
        thread: 'child',
        runId: 'run-c',
        outcome: 'complete',
        usage: { inputTokens: 2, source: 'reported', scope: 'subagents' },
      },
      {
        type: 'binding.changed',
        binding: {
          agentId: 'coder',
          nativeId: 'native',
          syncedTo: 20,
          anchor: 'native-2',
          cwd: 'project',
          version: '1',
        },
      },
      { type: 'binding.changed', binding: { agentId: 'other', nativeId: 'theirs', syncedTo: 20 } },
      { type: 'binding.removed', agentId: 'other' },
      {
        type: 'queue.added',
        item: { id: 'queued-1', lane: 'follow-up', parts: [{ id: '0', type: 'text', text: 'And then?' }] },
      },
      {
        type: 'queue.added',
        item: {
          id: 'queued-2',
          lane: 'steer',
          parts: [{ id: '0', type: 'text', text: 'Shorter!' }],
          by: 'user-1',
          agentId: 'coder',
          messageId: 'm9',
          requestContext: { lang: 'en' },
          turn: { maxSteps: 2 },
        },
        front: true,
      },
      { type: 'queue.removed', itemId: 'queued-1', reason: 'dropped' },
      { type: 'queue.held', held: true },
      { type: 'om.committed', om: OM, replaces: 0 },
      { type: 'context.cut', coversTo: 22, omitted: 3, generation: 2 },
      {
        type: 'compaction',
        summary: { blob: OM.blob, size: GOLDEN_MEMORY.length, mime: 'text/plain' },
        coversTo: 22,
        // Another one was faster.
        generation: 2,
        tokensBefore: 900,
        tokensAfter: 90,
      },
      { type: 'note', kind: 'warning', text: 'The disk is nearly full.', data: { left: 12 } },
      {
        type: 'turn.ended',
        turnId: 'turn-1',
        finishReason: 'stop',
        outcome: 'complete',
        usage: { inputTokens: 10, outputTokens: 5 },
        increment: { inputTokens: 3, outputTokens: 1, source: 'estimated', scope: 'subagents' },
      },
      { type: 'run.ended', runId: 'run-1', outcome: 'complete', output: { files: 2 } },
      { type: 'note', kind: 'score', text: 'truth: 1', data: { name: 'truth', value: 1, source: 'judge' } },
      { type: 'note', kind: 'feedback', text: 'Good', data: { text: 'Good', rating: 5, source: 'user-1' } },
    ],
  },
  {
    bodies: [
      {
        type: 'wait.opened',
        wait: {
          id: 'wait-2',
          kind: 'question',
          subject: {},
          description: 'Which one?',
          payload: { options: ['a', 'b'] },
        },
      },
      { type: 'wait.superseded', waitId: 'wait-2', byWaitId: 'wait-3' },
      { type: 'wait.opened', wait: { id: 'wait-3', kind: 'plan', subject: {}, description: 'Go on like this?' } },
      { type: 'wait.cancelled', waitId: 'wait-3', reason: 'abort' },
      { type: 'wait.opened', wait: { id: 'wait-4', kind: 'tool', subject: {}, description: 'Still open?' } },
    ],
  },
  {
    run: 'run-2',
    bodies: [
      { type: 'run.started', runId: 'run-2', agentId: 'coder', rules: RULES },
      {
        type: 'run.cancelled',
        runId: 'run-2',
        receipt: { how: 'clean', calls: [], orphansKilled: 0, queued: ['queued-2'] },
      },
      { type: 'run.ended', runId: 'run-2', outcome: 'aborted', error: { name: 'Error', message: 'Stopped.' } },
      { type: 'config.changed', mode: 'plan', settings: { gone: null }, state: { draft: 'later' } },
    ],
  },
]

/** Said, and erased again. */
export const GOLDEN_ERASED: GoldenStep = {
  bodies: [
    { type: 'message.added', messageId: 'm3', role: 'user', parts: [{ id: '0', type: 'text', text: 'Secret' }] },
  ],
}

/** What a process was doing when it died. */
export const GOLDEN_OPEN: GoldenStep = {
  run: 'run-3',
  bodies: [
    { type: 'run.started', runId: 'run-3', agentId: 'coder', rules: RULES },
    { type: 'turn.started', turnId: 'turn-3', agentId: 'coder' },
    { type: 'step.started', stepIndex: 0 },
    { type: 'message.started', messageId: 'm4', role: 'assistant' },
    { type: 'batch', event: { type: 'text-delta', messageId: 'm4', partId: '0', text: 'Half a se' } },
  ],
}

export function goldenFork(at: number): ForkRecord {
  return {
    type: 'fork',
    parent: 'main',
    at,
    lineage: [{ stream: 'main', from: 1, to: at }],
    keep: {
      mode: 'build',
      model: 'provider/model',
      agentId: 'coder',
      rules: RULES,
      yolo: false,
      settings: { theme: 'dark' },
      tasks: TASKS,
      om: null,
      grants: { categories: [], tools: [] },
      origins: { coder: { agentId: 'coder', nativeId: 'native', syncedTo: 20, anchor: 'native-2', origin: true } },
    },
  }
}

/** After the fork: something said, and a way back to before it. */
export const GOLDEN_FORKED: GoldenStep = {
  bodies: [
    { type: 'message.added', messageId: 'f1', role: 'user', parts: [{ id: '0', type: 'text', text: 'Another way.' }] },
    {
      type: 'rewind',
      to: 3,
      lineage: [{ stream: 'main', from: 1, to: 3 }],
      tasks: [],
      om: null,
      files: { checkpointId: 'cp-1' },
    },
    {
      type: 'message.added',
      messageId: 'f2',
      role: 'user',
      parts: [{ id: '0', type: 'text', text: 'From the start.' }],
    },
  ],
}
