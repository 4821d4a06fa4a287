import assert from 'node:assert/strict'
import { suite, test } from 'node:test'
import {
  askUserTool,
  assignTaskIds,
  defaultDisplayState,
  defaultOMProgressState,
  ErrorCode,
  InspanError,
  MemoryStore,
  toWireEvent,
  type ActiveSubagentState,
  type ActiveToolState,
  type CustomModelCatalogProvider,
  type Goal,
  type GoalEvaluation,
  type HarnessDisplayState,
  type HarnessEvent,
  type HarnessMessage,
  type HarnessThread,
  type ModelAuthChecker,
  type ModelUseCountProvider,
  type ModelUseCountTracker,
  type ObservationalMemoryRecord,
  type PendingToolApproval,
  type PendingToolSuspension,
  type QueuedFollowUp,
  type SessionInfo,
  type Store,
  type TaskItem,
} from '../index.ts'
import { HarnessBench } from './harness.fixture.ts'

suite('what a program needs besides the harness comes from the same package', () => {
  test('the text of events, messages, threads and the display', async () => {
    const heard: HarnessEvent[] = []
    await using bench = new HarnessBench([{ text: 'Yes.' }])
    bench.harness.subscribe((event: HarnessEvent) => void heard.push(event))
    const shown: HarnessDisplayState = bench.harness.session.displayState.get()
    assert.deepEqual(structuredClone(shown), structuredClone(defaultDisplayState()))
    assert.deepEqual(shown.omProgress, defaultOMProgressState())
    const thread: HarnessThread = await bench.harness.createThread()
    await bench.harness.sendMessage({ content: 'Hi' })
    const [first]: readonly HarnessMessage[] = await bench.harness.session.thread.listMessages({ threadId: thread.id })
    assert.equal(first?.role, 'user')
    assert.ok(heard.every((event) => toWireEvent(event).type === event.type))
    const tasks: readonly TaskItem[] = assignTaskIds([{ content: 'a', status: 'pending', activeForm: 'a-ing' }], [])
    assert.equal(tasks[0]?.id, 'task_a')
  })

  test('the types of what is given to it and of what it gives', async () => {
    const used: string[] = []
    const modelAuthChecker: ModelAuthChecker = (provider) => provider === 'mine'
    const modelUseCountProvider: ModelUseCountProvider = () => ({ 'mine/one': 2 })
    const modelUseCountTracker: ModelUseCountTracker = (modelId) => void used.push(modelId)
    const customModelCatalogProvider: CustomModelCatalogProvider = () => [{ id: 'mine/one' }]
    const models = { modelAuthChecker, modelUseCountProvider, modelUseCountTracker, customModelCatalogProvider }
    await using bench = new HarnessBench([], models)
    await bench.harness.session.model.switch({ modelId: 'mine/one' })
    const [first] = await bench.harness.listAvailableModels()
    assert.deepEqual([first?.id, first?.hasApiKey, first?.useCount, used], ['mine/one', true, 2, ['mine/one']])
    const record: ObservationalMemoryRecord | null = await bench.harness.getObservationalMemoryRecord()
    const session: SessionInfo = await bench.harness.getSession()
    assert.deepEqual([record, session.currentThreadId], [null, null])
    const shown = bench.harness.session.displayState.get()
    const tools: ReadonlyMap<string, ActiveToolState> = shown.activeTools
    const subagents: ReadonlyMap<string, ActiveSubagentState> = shown.activeSubagents
    assert.deepEqual([tools.size, subagents.size], [0, 0])
  })

  test('the errors it is refused with, and the types of what waits', async () => {
    const storage: Store = new MemoryStore()
    await using bench = new HarnessBench([], { storage })
    const { session } = bench.harness
    await assert.rejects(
      session.thread.switch({ threadId: 'nowhere' }),
      (error) => InspanError.is(error, ErrorCode.notFound) && error instanceof InspanError,
    )
    const approvals: readonly PendingToolApproval[] = session.displayState.get().pendingApprovals
    const suspensions: readonly PendingToolSuspension[] = session.suspensions.list()
    const queued: readonly QueuedFollowUp[] = session.followUps.list()
    const goal: Goal | null = await session.objectives.getObjective()
    const evaluations: GoalEvaluation[] = bench.all('goal_evaluation').map(({ payload }) => payload)
    assert.deepEqual([approvals, suspensions, queued, goal, evaluations], [[], [], [], null, []])
  })

  test('the question to the user as a tool of an agent’s own, also under another name', async () => {
    const question = { toolCalls: [{ id: 'q', name: 'consult', input: { question: 'Which?' } }] }
    const unclear = { toolCalls: [{ id: 'u', name: 'consult', input: { question: 5 } }] }
    const script = [unclear, question, { text: 'Left, then.' }]
    await using bench = new HarnessBench(script, { initialState: { yolo: true } }, { tools: { consult: askUserTool } })
    await bench.harness.sendMessage({ content: 'Go.' })
    assert.equal(bench.all('tool_suspended')[0]?.toolName, 'consult')
    await bench.harness.respondToToolSuspension({ resumeData: 'Left.' })
    assert.deepEqual(
      bench.all('tool_end').map(({ toolCallId, isError }) => [toolCallId, isError]),
      [
        ['u', true],
        ['q', false],
      ],
    )
  })
})

test('a thread may be chosen by `thread.set` as well', async () => {
  await using bench = new HarnessBench([])
  const first = await bench.harness.createThread()
  await bench.harness.createThread()
  await bench.harness.session.thread.set({ threadId: first.id })
  assert.equal(bench.harness.session.thread.getId(), first.id)
  assert.equal(bench.all('thread_changed').at(-1)?.threadId, first.id)
})
