import assert from 'node:assert/strict'
import { suite, test } from 'node:test'
import { MemoryStore } from '../stores/memory-store.ts'
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
})
