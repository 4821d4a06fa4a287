import assert from 'node:assert/strict'
import { suite, test } from 'node:test'
import { InspanError } from '@inspan/protocol'
import * as door from '../index.ts'
import { HarnessBench, nextEvent } from './harness.fixture.ts'

/** Names that programs for such harnesses use, by the part that has to have them. */
const HARNESS = [
  'id session memory',
  'init selectOrCreateThread destroy drain removeHeartbeat stopHeartbeats registerHeartbeat',
  'getCurrentAgent getResolvedMemory getMastra getRuntime listModes',
  'getCurrentModelAuthStatus listAvailableModels invalidateAvailableModelsCache',
  'createThread switchThread renameThread cloneThread detachFromCurrentThread',
  'setResourceId getKnownResourceIds getSession createSession',
  'getMcpServerInfo reconnectMcpServer setMcpServers',
  'sendMessage abort steer followUp respondToToolSuspension getToolCategory',
  'getWorkspace resolveWorkspace hasWorkspace isWorkspaceReady destroyWorkspace setBrowser getBrowser',
  'loadOMProgress getObservationalMemoryRecord subscribe',
  'saveSystemReminderMessage sendSignal sendNotificationSignal listSubagents',
]

const PARTS: Readonly<Record<string, string>> = {
  memory: 'createThread switchThread renameThread listThreads deleteThread',
  session:
    'identity thread mode model state permissions suspensions approval followUps run stream om subagents displayState ' +
    'signals objectives selectOrCreateThread ' +
    'grantCategory grantTool hasCategoryGrant hasToolGrant getGrants respondToToolApproval getCurrentRunId abortRun ' +
    'getTokenUsage getContextUsage abort sendMessage steer followUp respondToToolSuspension subscribe emit close',
  'session.identity': 'getId getResourceId getDefaultResourceId setResourceId',
  'session.thread':
    'getId isSet requireId set clear list getById listMessages listActiveMessages firstUserMessage firstUserMessages ' +
    'getSetting setSetting deleteSetting create rename clone rewind restoreFiles changes worktree switch delete',
  'session.mode': 'get resolve set switch',
  'session.model': 'get hasSelection displayName set saveForMode resolveForMode switch',
  'session.om': 'observer reflector',
  'session.om.observer': 'modelId threshold resolvedModel switchModel',
  'session.om.reflector': 'modelId threshold resolvedModel switchModel',
  'session.permissions': 'getRules setForCategory setForTool isYolo setYolo',
  'session.subagents.model': 'get set',
  'session.run':
    'getRunId getTraceId getAbortSignal ensureAbortController hasAbortController isRunning isAbortRequested ' +
    'requestAbort getOutput addScore addFeedback opinions',
  'session.stream': 'isOpen activeRunId isActive abort',
  'session.suspensions': 'list get has hasPending resolveToolCallId',
  'session.approval': 'isArmed getToolName respond cancel',
  'session.followUps': 'count isEmpty list enqueue dequeue requeue clear',
  'session.displayState': 'get clearModifiedFiles',
  'session.state': 'get set update',
  'session.signals': 'sendSignal sendStateSignal sendNotificationSignal saveSystemReminderMessage listNotifications',
  'session.objectives': 'setObjective getObjective clearObjective updateObjectiveOptions',
}

const EXPORTS =
  'Harness Session askUserTool submitPlanTool taskWriteTool taskUpdateTool taskCompleteTool taskCheckTool ' +
  'assignTaskIds parseSubagentMeta defaultDisplayState defaultOMProgressState'

function at(root: object, path: string): object {
  return path.split('.').reduce<object>((part, name) => Reflect.get(part, name) as object, root)
}

/** Returns the names of all members. */
function membersOf(part: object): Set<string> {
  const names = new Set<string>()
  for (let each = part; each !== Object.prototype; each = Object.getPrototypeOf(each) as object) {
    for (const name of Object.getOwnPropertyNames(each)) names.add(name)
  }
  names.delete('constructor')
  return names
}

suite('what programs look for is there, and nothing that only the harness itself may do', () => {
  test('on the harness', async () => {
    await using bench = new HarnessBench([])
    assert.deepEqual(membersOf(bench.harness), new Set(HARNESS.flatMap((line) => line.split(' '))))
  })

  for (const [path, names] of Object.entries(PARTS)) {
    test(`on ${path}`, async () => {
      await using bench = new HarnessBench([])
      assert.deepEqual(membersOf(at(bench.harness, path)), new Set(names.split(' ')))
    })
  }

  test('among the exports', () => {
    for (const name of EXPORTS.split(' ')) assert.ok(name in door, name)
  })

  test('on the agent of the current mode', async () => {
    await using bench = new HarnessBench([])
    const agent = bench.harness.getCurrentAgent()
    for (const name of ['id', ...(PARTS['session.objectives']?.split(' ') ?? [])]) assert.ok(name in agent, name)
  })
})

test('a session is made by its harness and not by hand', () => {
  assert.throws(
    () => Reflect.construct(door.Session, [{ resourceId: 'ada' }]),
    (error) => InspanError.is(error, 'misuse') && /createSession/.test(error.message),
  )
})

suite('the signal of a run', () => {
  test('is there while there is one, and is aborted with it', async () => {
    await using bench = new HarnessBench([{ text: 'Half', hang: true }])
    const { run } = bench.harness.session
    assert.deepEqual([run.getAbortSignal(), run.hasAbortController()], [undefined, false])
    assert.throws(() => run.ensureAbortController(), /no run/)
    const begun = bench.next('message_update')
    const sent = bench.harness.sendMessage({ content: 'Go.' })
    await begun
    const signal = run.getAbortSignal()
    assert.deepEqual([signal?.aborted, run.hasAbortController()], [false, true])
    assert.equal(run.getAbortSignal(), signal)
    const stopped = bench.harness.abort()
    assert.equal(signal?.aborted, true)
    await stopped
    await sent
    assert.equal(run.getAbortSignal(), undefined)
  })

  test('ends the run when it is aborted', async () => {
    await using bench = new HarnessBench([{ text: 'Half', hang: true }])
    const begun = bench.next('message_update')
    const sent = bench.harness.sendMessage({ content: 'Go.' })
    await begun
    bench.harness.session.run.ensureAbortController().abort()
    await sent
    assert.equal(bench.all('agent_end').at(-1)?.reason, 'aborted')
  })

  test('is aborted when another session ends the run, and not when the run is complete', async () => {
    const gate = Promise.withResolvers<void>()
    const slow = async () => {
      await gate.promise
      return { text: 'Done.' }
    }
    await using bench = new HarnessBench([{ text: 'Half', hang: true }, slow])
    const { harness } = bench
    const { session } = harness
    let begun = bench.next('message_update')
    let sent = harness.sendMessage({ content: 'Go.' })
    await begun
    const signal = session.run.getAbortSignal()
    const other = await harness.createSession()
    await other.thread.switch({ threadId: session.thread.requireId() })
    await other.abort()
    await sent
    assert.equal(signal?.aborted, true)
    const started = nextEvent(harness, 'agent_start')
    sent = harness.sendMessage({ content: 'Again.' })
    await started
    const second = session.run.getAbortSignal()
    begun = bench.next('message_update')
    gate.resolve()
    await begun
    await sent
    assert.equal(second?.aborted, false)
  })
})

suite('a follow-up that is put back', () => {
  test('is said before the others', async () => {
    const gate = Promise.withResolvers<void>()
    const script = [
      async () => {
        await gate.promise
        return { text: 'One.' }
      },
      { text: 'Yes.', repeat: true as const },
    ]
    await using bench = new HarnessBench(script)
    const { followUps } = bench.harness.session
    const begun = bench.next('agent_start')
    const sent = bench.harness.sendMessage({ content: 'Go.', untilIdle: true })
    await begun
    await followUps.enqueue({ content: 'a' })
    await followUps.enqueue({ content: 'b' })
    const taken = await followUps.dequeue()
    assert.equal(taken?.content, 'a')
    await followUps.requeue({ content: 'a' })
    assert.deepEqual(
      followUps.list().map(({ content }) => content),
      ['a', 'b'],
    )
    gate.resolve()
    await sent
    const messages = await bench.harness.session.thread.listActiveMessages()
    assert.deepEqual(
      messages.flatMap(({ content, role }) => (role === 'user' ? content : [])),
      ['Go.', 'a', 'b'].map((text) => ({ type: 'text', text })),
    )
  })

  test('is said at once when nothing is going on', async () => {
    await using bench = new HarnessBench([{ text: 'Yes.' }])
    await bench.harness.session.followUps.requeue({ content: 'a' })
    assert.equal(bench.model.calls, 1)
  })
})

suite('the approval that a single slot shows', () => {
  const call = { toolCalls: [{ id: 'c1', name: 'paint' }] }
  const paint = door.createTool({ id: 'paint', description: 'Paints.', category: 'edit', execute: () => 'painted' })

  for (const [how, isError] of [
    ['respond', false],
    ['cancel', true],
  ] as const) {
    test(`can be answered by ${how}`, async () => {
      await using bench = new HarnessBench([call, { text: 'Done.' }], { tools: { paint } })
      const { approval } = bench.harness.session
      assert.deepEqual([approval.isArmed(), approval.getToolName()], [false, null])
      await approval.cancel()
      const asked = bench.next('tool_approval_required')
      const sent = bench.harness.sendMessage({ content: 'Go.' })
      await asked
      assert.deepEqual([approval.isArmed(), approval.getToolName()], [true, 'paint'])
      if (how === 'respond') await approval.respond({ decision: 'approve' })
      else await approval.cancel()
      await sent
      assert.equal(bench.all('tool_end')[0]?.isError, isError)
    })
  }
})
