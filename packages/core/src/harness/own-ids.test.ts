import assert from 'node:assert/strict'
import { suite, test } from 'node:test'
import { createTool } from '@inspan/agent'
import { InspanError } from '@inspan/protocol'
import { MemoryStore } from '@inspan/stores'
import { ForeignAgent, runs } from '../engine/foreign-agent.fixture.ts'
import { HarnessBench } from './harness.fixture.ts'

suite('an id generator', () => {
  test('names threads, runs, turns, messages, what is queued, signals and notifications', async () => {
    let ids = 0
    const storage = new MemoryStore()
    const gate = Promise.withResolvers<void>()
    const script = [
      async () => {
        await gate.promise
        return { text: 'One.' }
      },
      { text: 'Next.', repeat: true as const },
    ]
    await using bench = new HarnessBench(script, { storage, idGenerator: () => `own-${++ids}` })
    const { harness } = bench
    const begun = bench.next('agent_start')
    const sent = harness.sendMessage({ content: 'Go.', untilIdle: true })
    await begun
    await harness.followUp({ content: 'And then?' })
    const [queued] = harness.session.followUps.list()
    gate.resolve()
    await sent
    const signal = harness.sendSignal({ type: 'reactive', contents: 'It rains.' }, { ifIdle: { behavior: 'persist' } })
    await signal.accepted
    const notice = await harness.sendNotificationSignal({ source: 'ci', kind: 'x', summary: 'y', priority: 'low' })
    const reminder = await harness.saveSystemReminderMessage({ message: 'Mind.', reminderType: 'gap' })
    const isOwn = (id: unknown): void => assert.match(String(id), /^own-\d+$/)
    for (const id of [queued?.id, signal.id, notice.id, reminder?.id]) isOwn(id)
    const threadId = harness.session.thread.requireId()
    isOwn(threadId)
    const { items } = await storage.readRecords(threadId, { limit: 1_000 })
    const kinds = new Set<string>()
    for (const { body, run, turn } of items) {
      if (run !== undefined) isOwn(run)
      if (turn !== undefined) isOwn(turn)
      if (body.type === 'run.started') isOwn(body.runId)
      if (body.type === 'turn.started') isOwn(body.turnId)
      if (body.type === 'message.added') isOwn(body.messageId)
      kinds.add(body.type)
    }
    for (const kind of ['run.started', 'message.added', 'queue.added']) assert.ok(kinds.has(kind), kind)
  })

  test('an id generator that reuses the name of an earlier run causes an error, and nothing is sent', async () => {
    let ids = 0
    const storage = new MemoryStore()
    const next: string[] = []
    const idGenerator = (): string => next.shift() ?? `own-${++ids}`
    await using bench = new HarnessBench([{ text: 'Fine.', repeat: true }], { storage, idGenerator })
    const { harness } = bench
    await harness.sendMessage({ content: 'One.' })
    await harness.sendMessage({ content: 'Two.' })
    const starts = async (): Promise<string[]> => {
      const { items } = await storage.readRecords(harness.session.thread.requireId(), { limit: 1_000 })
      return items.flatMap(({ body }) => (body.type === 'run.started' ? [body.runId] : []))
    }
    const [first = ''] = await starts()
    next.push('message', first)
    await assert.rejects(
      harness.sendMessage({ content: 'Three.' }),
      (error) => InspanError.is(error, 'already-exists') && error.message.includes(`a run "${first}" already`),
    )
    assert.equal((await starts()).length, 2)
    await harness.sendMessage({ content: 'Four.' })
    assert.equal((await starts()).length, 3)
  })

  test('names what agents produce and what is asked', async () => {
    let ids = 0
    const storage = new MemoryStore()
    const paint = createTool({ id: 'paint', description: 'Paints.', execute: () => 'painted' })
    const script = [
      { toolCalls: [{ id: 'c1', name: 'paint' }] },
      { toolCalls: [{ id: 'c2', name: 'ask_user', input: { question: 'Which?' } }] },
      { text: 'Done.' },
    ]
    await using bench = new HarnessBench(script, { storage, idGenerator: () => `own-${++ids}`, tools: { paint } })
    const { harness } = bench
    const asked = bench.next('tool_approval_required')
    const sent = harness.sendMessage({ content: 'Go.' })
    await asked
    await harness.session.respondToToolApproval({ decision: 'approve' })
    await sent
    await harness.respondToToolSuspension({ resumeData: 'This one.' })
    const kinds = await ownIds(storage, harness.session.thread.requireId())
    assert.deepEqual([kinds.get('wait.opened'), kinds.get('message.started')], [2, 3])
  })

  test('names what a foreign agent asks', async () => {
    let ids = 0
    const storage = new MemoryStore()
    const agent: ForeignAgent = new ForeignAgent('foreign', [runs(() => agent, 'make')])
    const modes = [{ id: 'm', agent }]
    await using bench = new HarnessBench([], { storage, idGenerator: () => `own-${++ids}`, modes })
    const { harness } = bench
    const asked = bench.next('tool_approval_required')
    const sent = harness.sendMessage({ content: 'Go.' })
    await asked
    await harness.session.respondToToolApproval({ decision: 'approve' })
    await sent
    assert.deepEqual(agent.journal, ['make'])
    const kinds = await ownIds(storage, harness.session.thread.requireId())
    assert.equal(kinds.get('wait.opened'), 1)
  })

  test('names what a foreign agent asks and withdraws', async () => {
    let ids = 0
    const storage = new MemoryStore()
    const agent = new ForeignAgent('foreign', [
      async function* (_turn, host) {
        yield { type: 'step-start', stepIndex: 0 }
        const subject = { agentId: 'foreign', toolName: 'x', args: {} }
        const answer = host.ask({ id: 'its-own', kind: 'approval', subject, description: 'May it?' })
        await bench.next('tool_approval_required')
        await host.withdraw('its-own')
        await answer.catch(() => undefined)
        yield { type: 'step-finish', stepIndex: 0, finishReason: 'stop' }
      },
    ])
    const modes = [{ id: 'm', agent }]
    await using bench = new HarnessBench([], { storage, idGenerator: () => `own-${++ids}`, modes })
    await bench.harness.sendMessage({ content: 'Go.' })
    const kinds = await ownIds(storage, bench.harness.session.thread.requireId())
    assert.deepEqual([kinds.get('wait.opened'), kinds.get('wait.superseded')], [1, 1])
    assert.deepEqual(bench.harness.session.displayState.get().pendingApprovals, [])
  })
})

/** Checks that every message and question has an id of its own; returns the number of records of each type. */
async function ownIds(storage: MemoryStore, threadId: string): Promise<Map<string, number>> {
  const { items } = await storage.readRecords(threadId, { limit: 1_000 })
  const kinds = new Map<string, number>()
  for (const { body } of items) {
    kinds.set(body.type, (kinds.get(body.type) ?? 0) + 1)
    if (body.type === 'wait.opened') assert.match(body.wait.id, /^own-/)
    if (body.type === 'message.started') assert.match(body.messageId, /^own-/)
  }
  return kinds
}
