import assert from 'node:assert/strict'
import { suite, test } from 'node:test'
import { createTool } from '@inspan/agent'
import type { HarnessEvent } from '@inspan/protocol/harness'
import type { Append } from '@inspan/protocol/store'
import { MemoryStore } from '@inspan/stores'
import { HarnessBench } from '../harness.fixture.ts'
import type { Session } from '../session.ts'

/** A store that can hold back appends to all streams but one. */
class SlowStore extends MemoryStore {
  #but: string | undefined
  #reached = Promise.withResolvers<void>()
  #freed = Promise.withResolvers<void>()

  /** Resolves when an append is held back. */
  holdAllBut(stream: string): Promise<void> {
    this.#but = stream
    return this.#reached.promise
  }

  goOn(): void {
    this.#but = undefined
    this.#freed.resolve()
  }

  override async append(request: Append): Promise<number> {
    if (this.#but !== undefined && request.stream !== this.#but) {
      this.#reached.resolve()
      await this.#freed.promise
    }
    return super.append(request)
  }
}

const paint = createTool({ id: 'paint', description: 'Paints.', execute: () => 'painted' })

interface Joining {
  readonly bench: HarnessBench
  readonly joining: Session
  readonly told: HarnessEvent[]
  /** Resolves when the thread has been opened for the session, which is not bound yet. */
  readonly opened: Promise<void>
  readonly arrived: () => Promise<void>
}

/** Returns a session that is entering the thread of another. */
async function join(script: ConstructorParameters<typeof HarnessBench>[0]): Promise<Joining> {
  const storage = new SlowStore()
  const bench = new HarnessBench(script, { storage, tools: { paint } })
  const { id } = await bench.harness.createThread()
  const joining = await bench.harness.createSession({ id: 'late' })
  const told: HarnessEvent[] = []
  joining.subscribe((event) => void told.push(event))
  const opened = storage.holdAllBut(id)
  const switched = joining.thread.switch({ threadId: id })
  const arrived = (): Promise<void> => {
    storage.goOn()
    return switched
  }
  bench.events.length = 0
  return { bench, joining, told, opened, arrived }
}

function typesOf(events: readonly HarnessEvent[]): string[] {
  return events.map(({ type }) => type).filter((type) => type !== 'display_state_changed')
}

suite('a session on its way into a thread', () => {
  test('receives a whole run that took place in the meantime', async () => {
    const { arrived, bench, joining, opened, told } = await join([{ text: ['Hel', 'lo'] }])
    await using _ = bench
    await opened
    await bench.harness.sendMessage({ content: 'Hi' })
    assert.deepEqual(told, [])
    await arrived()
    assert.deepEqual(typesOf(told), ['thread_changed', ...bench.types()])
    assert.equal(joining.displayState.get().isRunning, false)
    assert.deepEqual(joining.displayState.get().currentMessage, bench.harness.session.displayState.get().currentMessage)
  })

  test('receives a run that began in the meantime and asks, and how it ends', async () => {
    const script = [{ toolCalls: [{ id: 'c1', name: 'paint' }] }, { text: 'Done.' }]
    const { arrived, bench, joining, opened, told } = await join(script)
    await using _ = bench
    await opened
    const asked = bench.next('tool_approval_required')
    const sent = bench.harness.sendMessage({ content: 'Paint' })
    await asked
    await arrived()
    assert.deepEqual(typesOf(told), ['thread_changed', ...bench.types()])
    assert.equal(joining.displayState.get().pendingApproval?.toolCallId, 'c1')
    await joining.respondToToolApproval({ decision: 'approve' })
    await sent
    assert.deepEqual(typesOf(told), ['thread_changed', ...bench.types()])
  })

  test('receives once what was chosen in the meantime', async () => {
    const { arrived, bench, opened, told } = await join([])
    await using _ = bench
    await opened
    await bench.harness.session.model.switch({ modelId: 'x/other' })
    await arrived()
    assert.deepEqual(typesOf(told), ['model_changed', 'thread_changed'])
  })
})
