import type { Harness } from '../harness.ts'

/** The kind of a field of an argument. `?`: it may be left out. */
export type Kind =
  | 'text'
  | 'text?'
  | 'words'
  | 'words?'
  | 'thread'
  | 'thread?'
  | 'mode'
  | 'mode?'
  | 'one of'
  | 'one of?'
  | 'flag'
  | 'flag?'
  | 'count?'
  | 'number'
  | 'number?'
  | 'json'
  | 'json?'
  | 'fields?'
  | 'list'
  | 'list?'
  | 'function'
  | 'function?'

export interface PublicCall {
  readonly name: string
  /** Takes one argument, an object with these fields. */
  readonly call: (harness: Harness, argument: never) => unknown
  readonly good: object
  readonly fields: Readonly<Record<string, Kind>>
  /** The whole argument may be left out. */
  readonly isOptional?: true
  /** Throws at once instead of rejecting. */
  readonly isSync?: true
  /** Only reads: nobody calls it without looking at its answer, so no event reports its failure. */
  readonly isRead?: true
}

const MESSAGE = { content: 'words', files: 'list?', requestContext: 'fields?', untilIdle: 'flag?' } as const
const PAGE = { limit: 'count?', cursor: 'text?' } as const
const ROUTING = { ifActive: 'fields?', ifIdle: 'fields?' } as const
const NOTIFICATION = {
  source: 'text',
  kind: 'text',
  summary: 'text',
  priority: 'one of?',
  payload: 'json?',
  sourceId: 'text?',
  dedupeKey: 'text?',
  coalesceKey: 'text?',
  attributes: 'fields?',
  metadata: 'fields?',
} as const
const NOTICE = { source: 'ci', kind: 'status', summary: 'It failed.' }

/** Every call of a harness and of its session that takes one object. */
export const CALLS: readonly PublicCall[] = [
  {
    name: 'createSession',
    call: (harness, argument) => harness.createSession(argument),
    good: {},
    fields: { resourceId: 'text?', id: 'text?' },
    isOptional: true,
  },
  {
    name: 'createThread',
    call: (harness, argument) => harness.createThread(argument),
    good: {},
    fields: { title: 'words?', id: 'text?' },
    isOptional: true,
  },
  {
    name: 'memory.createThread',
    call: (harness, argument) => harness.memory.createThread(argument),
    good: {},
    fields: { title: 'words?' },
    isOptional: true,
  },
  {
    name: 'switchThread',
    call: (harness, argument) => harness.switchThread(argument),
    good: { threadId: 'nowhere' },
    fields: { threadId: 'thread' },
  },
  {
    name: 'memory.switchThread',
    call: (harness, argument) => harness.memory.switchThread(argument),
    good: { threadId: 'nowhere' },
    fields: { threadId: 'thread' },
  },
  {
    name: 'thread.set',
    call: ({ session }, argument) => session.thread.set(argument),
    good: { threadId: 'nowhere' },
    fields: { threadId: 'thread' },
  },
  {
    name: 'renameThread',
    call: (harness, argument) => harness.renameThread(argument),
    good: { title: 'Name' },
    fields: { title: 'words' },
  },
  {
    name: 'cloneThread',
    call: (harness, argument) => harness.cloneThread(argument),
    good: {},
    fields: { sourceThreadId: 'thread?', title: 'words?', resourceId: 'text?' },
    isOptional: true,
  },
  {
    name: 'thread.rewind',
    call: ({ session }, argument) => session.thread.rewind(argument),
    good: { messageId: 'nowhere' },
    fields: { messageId: 'text' },
  },
  {
    name: 'memory.deleteThread',
    call: (harness, argument) => harness.memory.deleteThread(argument),
    good: { threadId: 'nowhere' },
    fields: { threadId: 'thread' },
  },
  {
    name: 'setResourceId',
    call: (harness, argument) => harness.setResourceId(argument),
    good: { resourceId: 'other' },
    fields: { resourceId: 'text' },
  },
  {
    name: 'getKnownResourceIds',
    call: (harness, argument) => harness.getKnownResourceIds(argument),
    good: {},
    fields: PAGE,
    isOptional: true,
    isRead: true,
  },
  {
    name: 'sendMessage',
    call: (harness, argument) => harness.sendMessage(argument),
    good: { content: 'Hi' },
    fields: MESSAGE,
  },
  { name: 'steer', call: (harness, argument) => harness.steer(argument), good: { content: 'Hi' }, fields: MESSAGE },
  {
    name: 'followUp',
    call: (harness, argument) => harness.followUp(argument),
    good: { content: 'Hi' },
    fields: MESSAGE,
  },
  {
    name: 'followUps.enqueue',
    call: ({ session }, argument) => session.followUps.enqueue(argument),
    good: { content: 'Hi' },
    fields: MESSAGE,
  },
  {
    name: 'followUps.dequeue',
    call: ({ session }, argument) => session.followUps.dequeue(argument),
    good: {},
    fields: { id: 'text?' },
    isOptional: true,
  },
  {
    name: 'respondToToolSuspension',
    call: (harness, argument) => harness.respondToToolSuspension(argument),
    good: { resumeData: 'Yes', toolCallId: 'c1' },
    fields: { resumeData: 'json', toolCallId: 'text?', requestContext: 'fields?' },
  },
  {
    name: 'respondToToolApproval',
    call: ({ session }, argument) => session.respondToToolApproval(argument),
    good: { decision: 'approve', toolCallId: 'c1' },
    fields: { decision: 'one of', toolCallId: 'text?', requestContext: 'fields?', declineContext: 'fields?' },
  },
  {
    name: 'getToolCategory',
    call: (harness, argument) => harness.getToolCategory(argument),
    good: { toolName: 'view' },
    fields: { toolName: 'text' },
    isSync: true,
  },
  {
    name: 'registerHeartbeat',
    call: (harness, argument) => harness.registerHeartbeat(argument),
    good: { id: 'beat', intervalMs: 1_000, handler: () => undefined },
    fields: { id: 'text', intervalMs: 'number', handler: 'function', immediate: 'flag?', shutdown: 'function?' },
  },
  {
    name: 'removeHeartbeat',
    call: (harness, argument) => harness.removeHeartbeat(argument),
    good: { id: 'beat' },
    fields: { id: 'text' },
  },
  {
    name: 'resolveWorkspace',
    call: (harness, argument) => harness.resolveWorkspace(argument),
    good: {},
    fields: { requestContext: 'fields?' },
    isOptional: true,
  },
  {
    name: 'identity.setResourceId',
    call: ({ session }, argument) => session.identity.setResourceId(argument),
    good: { resourceId: 'other' },
    fields: { resourceId: 'text' },
  },
  {
    name: 'thread.list',
    call: ({ session }, argument) => session.thread.list(argument),
    good: {},
    fields: { ...PAGE, allResources: 'flag?', includeForkedSubagents: 'flag?' },
    isOptional: true,
    isRead: true,
  },
  {
    name: 'memory.listThreads',
    call: (harness, argument) => harness.memory.listThreads(argument),
    good: {},
    fields: { ...PAGE, allResources: 'flag?', includeForkedSubagents: 'flag?' },
    isOptional: true,
    isRead: true,
  },
  {
    name: 'thread.getById',
    call: ({ session }, argument) => session.thread.getById(argument),
    good: { threadId: 'nowhere' },
    fields: { threadId: 'text', allResources: 'flag?' },
    isRead: true,
  },
  {
    name: 'thread.listMessages',
    call: ({ session }, argument) => session.thread.listMessages(argument),
    good: { threadId: 'nowhere' },
    fields: { threadId: 'thread', allResources: 'flag?', ...PAGE },
    isRead: true,
  },
  {
    name: 'thread.listActiveMessages',
    call: ({ session }, argument) => session.thread.listActiveMessages(argument),
    good: {},
    fields: PAGE,
    isOptional: true,
    isRead: true,
  },
  {
    name: 'thread.firstUserMessage',
    call: ({ session }, argument) => session.thread.firstUserMessage(argument),
    good: { threadId: 'nowhere' },
    fields: { threadId: 'thread', allResources: 'flag?' },
    isRead: true,
  },
  {
    name: 'thread.firstUserMessages',
    call: ({ session }, argument) => session.thread.firstUserMessages(argument),
    good: { threadIds: [] },
    fields: { threadIds: 'list', allResources: 'flag?' },
    isRead: true,
  },
  {
    name: 'thread.getSetting',
    call: ({ session }, argument) => session.thread.getSetting(argument),
    good: { key: 'a' },
    fields: { key: 'text' },
    isSync: true,
  },
  {
    name: 'thread.setSetting',
    call: ({ session }, argument) => session.thread.setSetting(argument),
    good: { key: 'a', value: 1 },
    fields: { key: 'text', value: 'json' },
  },
  {
    name: 'thread.deleteSetting',
    call: ({ session }, argument) => session.thread.deleteSetting(argument),
    good: { key: 'a' },
    fields: { key: 'text' },
  },
  {
    name: 'mode.set',
    call: ({ session }, argument) => session.mode.set(argument),
    good: { modeId: 'build' },
    fields: { modeId: 'mode' },
  },
  {
    name: 'mode.switch',
    call: ({ session }, argument) => session.mode.switch(argument),
    good: { modeId: 'build' },
    fields: { modeId: 'mode' },
  },
  {
    name: 'model.set',
    call: ({ session }, argument) => session.model.set(argument),
    good: { modelId: 'a/b' },
    fields: { modelId: 'text' },
  },
  {
    name: 'model.switch',
    call: ({ session }, argument) => session.model.switch(argument),
    good: { modelId: 'a/b' },
    fields: { modelId: 'text', scope: 'one of?', modeId: 'mode?' },
  },
  {
    name: 'model.saveForMode',
    call: ({ session }, argument) => session.model.saveForMode(argument),
    good: { modeId: 'build', modelId: 'a/b' },
    fields: { modeId: 'mode', modelId: 'text?' },
  },
  {
    name: 'model.resolveForMode',
    call: ({ session }, argument) => session.model.resolveForMode(argument),
    good: { modeId: 'build' },
    fields: { modeId: 'mode' },
    isSync: true,
  },
  {
    name: 'permissions.setForCategory',
    call: ({ session }, argument) => session.permissions.setForCategory(argument),
    good: { category: 'edit', policy: 'deny' },
    fields: { category: 'one of', policy: 'one of' },
  },
  {
    name: 'permissions.setForTool',
    call: ({ session }, argument) => session.permissions.setForTool(argument),
    good: { toolName: 'view', policy: 'deny' },
    fields: { toolName: 'text', policy: 'one of' },
  },
  {
    name: 'permissions.setYolo',
    call: ({ session }, argument) => session.permissions.setYolo(argument),
    good: { enabled: true },
    fields: { enabled: 'flag' },
  },
  {
    name: 'suspensions.get',
    call: ({ session }, argument) => session.suspensions.get(argument),
    good: { toolCallId: 'c1' },
    fields: { toolCallId: 'text' },
    isSync: true,
  },
  {
    name: 'suspensions.has',
    call: ({ session }, argument) => session.suspensions.has(argument),
    good: { toolCallId: 'c1' },
    fields: { toolCallId: 'text' },
    isSync: true,
  },
  {
    name: 'run.addScore',
    call: ({ session }, argument) => session.run.addScore(argument),
    good: { name: 'tone', value: 1, source: 'me' },
    fields: { name: 'text', value: 'number', source: 'text', reason: 'words?', runId: 'text?' },
  },
  {
    name: 'run.addFeedback',
    call: ({ session }, argument) => session.run.addFeedback(argument),
    good: { text: 'Good.', source: 'me' },
    fields: { text: 'words?', rating: 'number?', source: 'text', runId: 'text?' },
  },
  {
    name: 'run.opinions',
    call: ({ session }, argument) => session.run.opinions(argument),
    good: {},
    fields: { runId: 'text?' },
    isOptional: true,
    isRead: true,
  },
  {
    name: 'om.observer.switchModel',
    call: ({ session }, argument) => session.om.observer.switchModel(argument),
    good: { modelId: 'a/b' },
    fields: { modelId: 'text' },
  },
  {
    name: 'om.reflector.switchModel',
    call: ({ session }, argument) => session.om.reflector.switchModel(argument),
    good: { modelId: 'a/b' },
    fields: { modelId: 'text' },
  },
  {
    name: 'subagents.model.get',
    call: ({ session }, argument) => session.subagents.model.get(argument),
    good: {},
    fields: { agentType: 'text?' },
    isOptional: true,
    isSync: true,
  },
  {
    name: 'subagents.model.set',
    call: ({ session }, argument) => session.subagents.model.set(argument),
    good: { modelId: 'a/b' },
    fields: { modelId: 'text', agentType: 'text?' },
  },
  {
    name: 'sendSignal of the application',
    call: (harness, argument) => harness.sendSignal(argument).accepted,
    good: { type: 'reactive', contents: 'It rains.' },
    fields: {
      id: 'text?',
      type: 'one of',
      tagName: 'text?',
      attributes: 'fields?',
      metadata: 'fields?',
      providerOptions: 'fields?',
    },
  },
  {
    name: 'sendSignal of a user',
    call: (harness, argument) => harness.sendSignal(argument).accepted,
    good: { content: 'Hi' },
    fields: { content: 'text', attributes: 'fields?', metadata: 'fields?', ...ROUTING },
  },
  {
    name: 'the routing of sendSignal',
    call: (harness, argument) => harness.sendSignal({ type: 'reactive', contents: 'It rains.' }, argument).accepted,
    good: {},
    fields: ROUTING,
    isOptional: true,
  },
  {
    name: 'sendSignal while a run goes on',
    call: (harness, argument) =>
      harness.sendSignal({ type: 'reactive', contents: 'It rains.' }, { ifActive: argument }).accepted,
    good: {},
    fields: { behavior: 'one of?' },
    isOptional: true,
  },
  {
    name: 'sendSignal while none does',
    call: (harness, argument) =>
      harness.sendSignal({ type: 'reactive', contents: 'It rains.' }, { ifIdle: argument }).accepted,
    good: {},
    fields: { behavior: 'one of?' },
    isOptional: true,
  },
  {
    name: 'sendNotificationSignal',
    call: (harness, argument) => harness.sendNotificationSignal(argument),
    good: NOTICE,
    fields: NOTIFICATION,
  },
  {
    name: 'the routing of sendNotificationSignal',
    call: (harness, argument) => harness.sendNotificationSignal(NOTICE, argument),
    good: {},
    fields: ROUTING,
    isOptional: true,
  },
  {
    name: 'saveSystemReminderMessage',
    call: (harness, argument) => harness.saveSystemReminderMessage(argument),
    good: { message: 'Mind the gap.', reminderType: 'gap' },
    fields: { message: 'text', reminderType: 'text', role: 'one of?', metadata: 'fields?' },
  },
  {
    name: 'signals.sendStateSignal',
    call: ({ session }, argument) => session.signals.sendStateSignal(argument),
    good: { id: 'weather', cacheKey: '1', contents: 'It rains.' },
    fields: {
      id: 'text',
      cacheKey: 'text',
      mode: 'one of?',
      contents: 'text',
      tagName: 'text?',
      attributes: 'fields?',
      value: 'json?',
      delta: 'json?',
    },
  },
  {
    name: 'the options of setObjective',
    call: ({ session }, argument) => session.objectives.setObjective('All is well.', argument),
    good: { judgeModelId: 'judge/one' },
    fields: { judgeModelId: 'text?', maxRuns: 'count?', prompt: 'text?' },
    isOptional: true,
  },
  {
    name: 'updateObjectiveOptions',
    call: (harness, argument) => harness.getCurrentAgent().updateObjectiveOptions(argument),
    good: { maxRuns: 3 },
    fields: { judgeModelId: 'text?', maxRuns: 'count?', prompt: 'text?', status: 'one of?', pausedReason: 'text?' },
  },
]
