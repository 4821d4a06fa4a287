import assert from 'node:assert/strict'
import { suite, test } from 'node:test'
import type { SentNotification } from './notifications.ts'
import { HarnessBench } from '../harness.fixture.ts'

const BUILD = { source: 'ci', kind: 'build', summary: 'It failed.', payload: { job: 7 }, sourceId: 'job-7' } as const

/** Waits until the clock has moved on. */
async function later(): Promise<void> {
  const now = Date.now()
  while (Date.now() === now) await new Promise(setImmediate)
}

suite('what whoever sends a notification gets', () => {
  test('all that is known of it, and what became of it', async () => {
    await using bench = new HarnessBench([{ text: 'I see.', repeat: true }])
    const before = Date.now()
    const sent = await bench.harness.sendNotificationSignal({ ...BUILD, priority: 'low' })
    const { createdAt, id } = sent.notification
    assert.ok(createdAt >= before && createdAt <= Date.now())
    assert.deepEqual(await ownNames(sent), {
      id,
      notification: {
        ...BUILD,
        id,
        threadId: bench.harness.session.thread.requireId(),
        priority: 'low',
        status: 'pending',
        coalescedCount: 1,
        createdAt,
        updatedAt: createdAt,
      },
      action: 'summarize',
      accepted: { accepted: true, action: 'persist' },
    })
  })

  test('the sender of a notification learns that it was delivered, when, and in which run', async () => {
    await using bench = new HarnessBench([{ text: 'I see.' }])
    const ended = bench.next('agent_end')
    const sent = await bench.harness.sendNotificationSignal(BUILD)
    const accepted = await sent.accepted
    await ended
    const { createdAt, priority, status, updatedAt } = sent.notification
    assert.deepEqual([sent.action, priority, status], ['deliver', 'medium', 'delivered'])
    assert.ok(updatedAt >= createdAt)
    assert.deepEqual(accepted, { accepted: true, action: 'wake', runId: accepted.runId })
    assert.ok(accepted.runId !== undefined)
  })

  test('the sender of a notification learns that it was discarded, and it is nowhere', async () => {
    await using bench = new HarnessBench([], { notifications: { priorities: { low: 'discard' } } })
    const sent = await bench.harness.sendNotificationSignal({ ...BUILD, priority: 'low' })
    const { createdAt, id } = sent.notification
    assert.deepEqual(await ownNames(sent), {
      id,
      notification: {
        ...BUILD,
        id,
        threadId: bench.harness.session.thread.requireId(),
        priority: 'low',
        status: 'discarded',
        coalescedCount: 1,
        createdAt,
        updatedAt: createdAt,
      },
      action: 'discard',
      accepted: { accepted: true, action: 'discard' },
    })
    assert.deepEqual(bench.harness.session.signals.listNotifications(), [])
  })

  test('the sender of a notification learns that it replaces others: their id, the higher priority, what is new', async () => {
    await using bench = new HarnessBench([], { notifications: { decide: () => 'persist' } })
    const first = await bench.harness.sendNotificationSignal({ ...BUILD, coalesceKey: 'k', priority: 'high' })
    await later()
    const news = {
      source: 'ci',
      kind: 'build',
      summary: 'It failed again.',
      coalesceKey: 'k',
      priority: 'low',
    } as const
    const second = await bench.harness.sendNotificationSignal(news)
    const { updatedAt } = second.notification
    assert.ok(updatedAt > first.notification.updatedAt)
    const record = {
      ...first.notification,
      summary: 'It failed again.',
      priority: 'high',
      coalescedCount: 2,
      updatedAt,
    }
    assert.deepEqual(second.notification, record)
    assert.deepEqual(bench.harness.session.signals.listNotifications(), [record])
  })
})

/** Without the two fields that say the same under other names. */
async function ownNames(sent: SentNotification): Promise<object> {
  const { accepted, action, id, notification } = sent
  return { id, notification, action, accepted: await accepted }
}
