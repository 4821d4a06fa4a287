import assert from 'node:assert/strict'
import { suite, test } from 'node:test'
import { InspanError, NO_RULES } from '@inspan/protocol'
import { applyFrame, emptyView, viewFrom, type DeltaFrame, type LogRecord, type ThreadView } from '@inspan/protocol/log'
import type { Append, Store } from '@inspan/protocol/store'
import { MemoryStore } from '@inspan/stores'
import { FlushTicker } from './flush-ticker.ts'
import { recordsAfter } from './load-state.ts'
import { openTestThread, startMessage } from '../thread.fixture.ts'
import type { LogEntry, ThreadLog } from './thread-log.ts'

async function records(store: Store): Promise<LogRecord[]> {
  return Array.fromAsync(recordsAfter(store, 'thread', 0))
}

function text(partId: string, value: string): Parameters<ThreadLog['delta']>[0] {
  return { type: 'text-delta', messageId: 'm', partId, text: value }
}

function bodyTypes(all: readonly LogRecord[]): string[] {
  return all.map((record) => record.body.type)
}

/** Checks that every seq is a row or lies between the first and last seq of a sealed one. */
function assertTiled(all: readonly LogRecord[]): void {
  const head = all.at(-1)?.seq ?? 0
  for (let seq = 1; seq <= head; seq++) {
    assert.ok(
      all.some((record) => seq >= (record.first ?? record.seq) && seq <= record.seq),
      `seq ${seq} is in no row`,
    )
  }
}

suite('the log of a thread', () => {
  test('a commit of which one record cannot be made leaves nothing behind', async () => {
    await using thread = await openTestThread(new MemoryStore())
    const { log, store } = thread
    const before = bodyTypes(await records(store))
    const { seq } = log.state.head
    const note = { type: 'note', kind: 'info', text: 'first' } as const
    const unusable = { type: 'message.added', messageId: 'u', role: 'user', parts: [{ type: 'text' }] } as never
    await assert.rejects(log.commit([note, unusable]))
    const unsafe = { type: 'message.started', messageId: '__proto__', role: 'assistant' } as never
    await assert.rejects(log.commit([note, unsafe]), (error) => InspanError.is(error, 'invalid-input'))
    const [record] = await log.commit([{ ...note, text: 'second' }])
    assert.equal(record?.seq, seq + 1)
    assert.deepEqual(bodyTypes(await records(store)), [...before, 'note'])
  })

  test('shows a delta at once and writes it later', async () => {
    await using thread = await openTestThread(new MemoryStore())
    const { log, store } = thread
    await startMessage(log)
    await log.flush()
    const shown: LogEntry[] = []
    log.onEntry((entry) => shown.push(entry))
    log.delta(text('0', 'Hel'))
    log.delta(text('0', 'lo'))
    assert.deepEqual(
      shown.map((entry) => entry.kind === 'delta' && entry.event.type === 'text-delta' && entry.event.text),
      ['Hel', 'lo'],
    )
    assert.equal(
      JSON.stringify(log.state.messages.at(-1)?.parts.at(0)),
      JSON.stringify({ id: '0', state: 'open', type: 'text', text: 'Hello' }),
    )
    assert.ok(!bodyTypes(await records(store)).includes('batch'))
    await log.flush()
    const batch = (await records(store)).find((record) => record.body.type === 'batch')
    assert.equal(
      batch?.body.type === 'batch' && batch.body.event.type === 'text-delta' && batch.body.event.text,
      'Hello',
    )
  })

  test('writes by itself, without being asked to', async () => {
    await using thread = await openTestThread(new MemoryStore())
    const { log } = thread
    await startMessage(log)
    const frame = Promise.withResolvers<DeltaFrame>()
    await log.flush()
    log.onFrame(frame.resolve)
    log.delta(text('0', 'later'))
    assert.ok(JSON.stringify((await frame.promise).operations).includes('later'))
  })

  test('writes what has grown to 4 KB without waiting for its time', async () => {
    // With a stopped clock and ticker only the size triggers a write.
    class StillTicker extends FlushTicker {
      override add(): void {}
    }
    await using thread = await openTestThread(new MemoryStore(), { now: () => 1, ticker: new StillTicker() })
    const { log, store } = thread
    await startMessage(log)
    await log.flush()
    const before = log.committed.head.seq
    log.delta(text('0', 'x'.repeat(4095)))
    await new Promise((resolve) => setImmediate(resolve))
    assert.equal(log.committed.head.seq, before)
    log.delta(text('0', 'y'))
    const frame = Promise.withResolvers<DeltaFrame>()
    log.onFrame(frame.resolve)
    assert.equal((await frame.promise).seq, before + 1)
    assert.equal((await records(store)).at(-1)?.body.type, 'batch')
    // The next 4 KB are counted from here.
    const { seq } = log.committed.head
    log.delta(text('0', 'z'))
    await new Promise((resolve) => setImmediate(resolve))
    assert.equal(log.committed.head.seq, seq)
  })

  test('pieces that come after a write are not added to what was written', async () => {
    await using thread = await openTestThread(new MemoryStore())
    const { log, store } = thread
    await startMessage(log)
    for (const pair of ['ab', 'cd']) {
      for (const piece of pair) log.delta(text('0', piece))
      await log.flush()
    }
    const written = (await records(store)).flatMap(({ body }) =>
      body.type === 'batch' && body.event.type === 'text-delta' ? [body.event.text] : [],
    )
    assert.deepEqual(written, ['ab', 'cd'])
    const reopened = await thread.reopen()
    assert.equal(JSON.stringify(reopened.state.messages), JSON.stringify(log.state.messages))
    // A reopened log knows the first seq of the open part.
    const sealed = reopened.add({ type: 'text-delta', messageId: 'm', partId: '0', text: 'abcd' })
    await reopened.flush()
    assert.equal(sealed.first, 3)
    assertTiled(await records(store))
  })

  test('a result is shown, also when it takes the place of output that was not written yet', async () => {
    await using thread = await openTestThread(new MemoryStore())
    const { log } = thread
    await startMessage(log)
    await log.flush()
    const shown: string[] = []
    log.onEntry((entry) => shown.push(entry.kind === 'record' ? entry.record.body.type : entry.event.type))
    const call = { messageId: 'm', partId: '0', toolCallId: 'c', toolName: 'run' }
    log.delta({ type: 'tool-progress', ...call, output: 'half' })
    await log.commit([{ type: 'tool-result', ...call, result: 'whole' }])
    assert.deepEqual(shown, ['tool-progress', 'tool-result'])
  })

  test('a part does not change its kind', async () => {
    await using thread = await openTestThread(new MemoryStore())
    const { log } = thread
    await startMessage(log)
    log.delta(text('0', 'a'))
    const other = { type: 'reasoning-delta', messageId: 'm', partId: '0', text: 'b' } as const
    assert.throws(() => log.delta(other), { code: 'misuse' })
  })

  test('keeps no head of a thread with an open run: it would lack the open messages', async () => {
    await using thread = await openTestThread(new MemoryStore())
    const { log } = thread
    await startMessage(log)
    // One run ends and the next begins in one transaction.
    await log.commit([
      { type: 'run.ended', runId: 'r', outcome: 'complete' },
      { type: 'run.started', runId: 'r2', agentId: 'a', rules: NO_RULES },
      { type: 'message.started', messageId: 'm2', role: 'assistant' },
    ])
    log.delta({ type: 'text-delta', messageId: 'm2', partId: '0', text: 'Hello' })
    await log.flush()
    const reopened = await thread.reopen()
    assert.equal(JSON.stringify(reopened.state), JSON.stringify(log.state))
    assert.equal(reopened.state.messages.at(-1)?.id, 'm2')
  })

  test('a sealed part replaces its batches, and the ranges still cover every seq', async () => {
    await using thread = await openTestThread(new MemoryStore())
    const { log, store } = thread
    await startMessage(log)
    for (const word of ['one ', 'two ', 'three']) {
      log.delta(text('0', word))
      await log.flush()
    }
    const before = await records(store)
    assert.equal(before.filter((record) => record.body.type === 'batch').length, 3)
    log.add({ type: 'text-delta', messageId: 'm', partId: '0', text: 'one two three' })
    await log.flush()
    const after = await records(store)
    assert.deepEqual(bodyTypes(after), ['run.started', 'message.started', 'text-delta'])
    assert.equal(after.at(-1)?.first, before[2]?.seq)
    assertTiled(after)
  })

  test('parts that grow at the same time are sealed one by one without losing the other', async () => {
    await using thread = await openTestThread(new MemoryStore())
    const { log, store } = thread
    await startMessage(log)
    for (let i = 0; i < 4; i++) {
      log.delta(text('0', `a${i}`))
      log.delta(text('1', `b${i}`))
      await log.flush()
    }
    log.add({ type: 'text-delta', messageId: 'm', partId: '1', text: 'b0b1b2b3' })
    await log.flush()
    const half = await records(store)
    assert.equal(half.filter((record) => record.body.type === 'batch').length, 4)
    assertTiled(half)
    const reopened = await thread.reopen()
    assert.deepEqual(JSON.stringify(reopened.state.messages), JSON.stringify(log.state.messages))
    log.add({ type: 'text-delta', messageId: 'm', partId: '0', text: 'a0a1a2a3' })
    await log.flush()
    assertTiled(await records(store))
    assert.ok(!bodyTypes(await records(store)).includes('batch'))
  })

  test('a part that ends before it was ever written costs one record', async () => {
    await using thread = await openTestThread(new MemoryStore())
    const { log, store } = thread
    await startMessage(log)
    log.delta(text('0', 'short'))
    log.add({ type: 'text-delta', messageId: 'm', partId: '0', text: 'short' })
    await log.flush()
    assert.deepEqual(bodyTypes(await records(store)), ['run.started', 'message.started', 'text-delta'])
  })

  test('a record that must be on disk first is shown only then, in the order of its seq', async () => {
    await using thread = await openTestThread(new MemoryStore())
    const { log, store } = thread
    await startMessage(log)
    const order: string[] = []
    log.onEntry((entry) => {
      if (entry.kind === 'record') order.push(`${entry.record.body.type} ${entry.live ? 'live' : 'written'}`)
    })
    const committed = log.commit([{ type: 'config.changed', mode: 'plan' }])
    assert.equal(log.state.head.mode, null)
    log.add({ type: 'note', kind: 'info', text: 'meanwhile' })
    await committed
    assert.equal(log.state.head.mode, 'plan')
    assert.deepEqual(order, ['note live', 'config.changed written'])
    await log.flush()
    assert.deepEqual(bodyTypes(await records(store)).slice(-2), ['config.changed', 'note'])
  })

  test('shows every record once, however it was written', async () => {
    await using thread = await openTestThread(new MemoryStore())
    const { log, store } = thread
    const shown: number[] = []
    log.onEntry((entry) => {
      if (entry.kind === 'record') shown.push(entry.record.seq)
    })
    await startMessage(log)
    log.add({ type: 'text-delta', messageId: 'm', partId: '0', text: 'whole' })
    await log.commit([
      { type: 'message.ended', messageId: 'm', outcome: 'done' },
      { type: 'turn.ended', turnId: 'u', finishReason: 'stop', outcome: 'complete' },
      { type: 'run.ended', runId: 'r', outcome: 'complete' },
    ])
    assert.deepEqual(
      shown,
      (await records(store)).map((record) => record.seq),
    )
  })

  test('a barrier cannot be added as if nothing depended on it', async () => {
    await using thread = await openTestThread(new MemoryStore())
    assert.throws(
      () => thread.log.add({ type: 'config.changed', mode: 'plan' }),
      (error) => InspanError.is(error, 'misuse'),
    )
  })

  test('frames lead a client to the state of the log, from the start or from any snapshot', async () => {
    await using thread = await openTestThread(new MemoryStore())
    const { log, store } = thread
    let follower: ThreadView = emptyView('thread')
    let late: ThreadView | undefined
    log.onFrame((frame) => {
      follower = applyFrame(follower, frame)
      if (late !== undefined) late = applyFrame(late, frame)
    })
    await startMessage(log)
    for (let i = 0; i < 20; i++) {
      log.delta(text('0', `word${i} `))
      if (i % 3 === 0) await log.flush()
      if (i === 10) {
        await log.flush()
        late = viewFrom(JSON.parse(JSON.stringify({ seq: log.committed.head.seq, ...log.committed })))
      }
    }
    log.add({
      type: 'text-delta',
      messageId: 'm',
      partId: '0',
      text: Array.from({ length: 20 }, (_, i) => `word${i} `).join(''),
    })
    await log.commit([
      { type: 'message.ended', messageId: 'm', outcome: 'done' },
      { type: 'run.ended', runId: 'r', outcome: 'complete' },
    ])
    const { items } = await store.listMessages(log.state.head.lineage, { order: 'oldest' })
    assert.deepEqual(JSON.parse(JSON.stringify(follower.messages)), JSON.parse(JSON.stringify(items)))
    assert.deepEqual(JSON.parse(JSON.stringify(late?.messages)), JSON.parse(JSON.stringify(items)))
    assert.equal(follower.seq, log.committed.head.seq)
  })

  test('opens again where it stood, from the stored head and what came after it', async () => {
    await using thread = await openTestThread(new MemoryStore())
    const { log } = thread
    await startMessage(log)
    log.delta(text('0', 'half'))
    await log.flush()
    const again = await thread.reopen()
    assert.equal(JSON.stringify(again.state), JSON.stringify(log.state))
    again.add({ type: 'text-delta', messageId: 'm', partId: '0', text: 'half done' })
    await again.commit([{ type: 'run.ended', runId: 'r', outcome: 'complete' }])
    const third = await thread.reopen()
    assert.equal(JSON.stringify(third.state), JSON.stringify(again.state))
    assert.equal(third.state.messages.length, 0)
    assertTiled(await records(thread.store))
  })

  test('an id that reaches an object prototype is refused where it enters', async () => {
    await using thread = await openTestThread(new MemoryStore())
    assert.throws(
      () => thread.log.add({ type: 'message.started', messageId: '__proto__', role: 'assistant' }),
      (error) => InspanError.is(error, 'invalid-input'),
    )
  })
})

/** A store whose appends fail as the test says. */
class FaultyStore extends MemoryStore {
  faults: ('before' | 'after')[] = []

  override async append(append: Append): Promise<number> {
    const fault = this.faults.shift()
    if (fault === 'before') throw new InspanError('io', 'The disk did not answer.')
    const seq = await super.append(append)
    if (fault === 'after') throw new InspanError('io', 'The answer got lost.')
    return seq
  }
}

suite('when the store fails', () => {
  test('a write that did not happen is tried again, one whose answer got lost is not', async () => {
    const store = new FaultyStore()
    await using thread = await openTestThread(store)
    store.faults = ['before', 'after']
    await thread.log.commit([{ type: 'config.changed', mode: 'a' }])
    store.faults = ['after']
    await thread.log.commit([{ type: 'config.changed', mode: 'b' }])
    const all = await records(store)
    assert.deepEqual(
      all.map((record) => record.body.type === 'config.changed' && record.body.mode),
      ['a', 'b'],
    )
  })

  test('a writer that lost the thread gets that error, and everything after it fails the same way', async () => {
    const store = new MemoryStore()
    const failures: InspanError[] = []
    await using thread = await openTestThread(store, { onFailure: (error) => failures.push(error) })
    const { log } = thread
    await store.takeOver('thread', 'somebody-else', thread.fence.epoch)
    const isFenced = (error: unknown): boolean => InspanError.is(error, 'fenced')
    await assert.rejects(log.commit([{ type: 'config.changed', mode: 'a' }]), isFenced)
    assert.throws(() => log.add({ type: 'note', kind: 'info', text: 'x' }), isFenced)
    assert.throws(() => log.delta(text('0', 'x')), isFenced)
    assert.equal(failures.length, 1)
    assert.deepEqual(await records(store), [])
  })

  test('a closed log refuses writes with that reason', async () => {
    await using thread = await openTestThread(new MemoryStore())
    await thread.log.close()
    assert.throws(
      () => thread.log.add({ type: 'note', kind: 'info', text: 'x' }),
      (error) => InspanError.is(error, 'closed'),
    )
    await thread.log.close()
  })
})

test('a record that arrives while the log writes its last ones is refused, not shown and lost', async () => {
  await using thread = await openTestThread(new MemoryStore())
  await startMessage(thread.log)
  const closed = thread.log.close()
  const late = { type: 'note', kind: 'info', text: 'Late.' } as const
  assert.throws(
    () => thread.log.add(late),
    (error) => InspanError.is(error, 'closed'),
  )
  await closed
  assert.equal(thread.log.state.head.seq, thread.log.committed.head.seq)
})
