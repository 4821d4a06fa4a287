import assert from 'node:assert/strict'
import { suite, test } from 'node:test'
import type { Append } from '@inspan/protocol/store'
import { MemoryStore } from '@inspan/stores'
import { HarnessBench } from '../harness.fixture.ts'

/** A store that can hold back changes of the config. */
class SlowStore extends MemoryStore {
  #gate: Promise<void> | undefined

  /** Returns the function that lets them through. */
  holdBack(): () => void {
    const { promise, resolve } = Promise.withResolvers<void>()
    this.#gate = promise
    return resolve
  }

  override async append(append: Append): Promise<number> {
    if (append.records.some(({ body }) => body.type === 'config.changed')) await this.#gate
    return super.append(append)
  }
}

suite('a clone of a thread that is just being changed', () => {
  test('has the rule that was set before, by whichever session, though nobody waited for it', async () => {
    const storage = new SlowStore()
    await using bench = new HarnessBench([], { storage })
    const { id } = await bench.harness.createThread()
    const other = await bench.harness.createSession()
    await other.thread.switch({ threadId: id })
    const goOn = storage.holdBack()
    const ruled = bench.harness.session.permissions.setForTool({ toolName: 'paint', policy: 'deny' })
    const cloned = other.thread.clone({ sourceThreadId: id })
    // However long it takes, the clone must not exist before the rule.
    setImmediate(goOn)
    const clone = await cloned
    await ruled
    assert.equal(other.thread.getId(), clone.id)
    assert.equal(other.permissions.getRules().tools['paint'], 'deny')
  })

  test('has the model that its own session chose just before', async () => {
    const storage = new SlowStore()
    await using bench = new HarnessBench([], { storage })
    await bench.harness.createThread()
    const goOn = storage.holdBack()
    const chosen = bench.harness.session.model.set({ modelId: 'acme/large' })
    const cloned = bench.harness.cloneThread()
    setImmediate(goOn)
    await cloned
    await chosen
    assert.equal(bench.harness.session.model.get(), 'acme/large')
  })

  for (const how of ['set', 'switch'] as const) {
    test(`has the mode that its own session chose just before (mode.${how})`, async () => {
      const storage = new SlowStore()
      await using bench = new HarnessBench([], { storage, modes: [{ id: 'build' }, { id: 'plan' }] })
      await bench.harness.createThread()
      const goOn = storage.holdBack()
      const chosen = bench.harness.session.mode[how]({ modeId: 'plan' })
      const cloned = bench.harness.cloneThread()
      setImmediate(goOn)
      await cloned
      await chosen
      assert.equal(bench.harness.session.mode.get(), 'plan')
    })
  }

  test('has the mode that was switched to just before, though a run had to be ended for it', async () => {
    await using bench = new HarnessBench([{ text: 'One.' }, { text: 'Half', hang: true }], {
      modes: [{ id: 'build' }, { id: 'plan' }],
    })
    const { session } = bench.harness
    await bench.harness.createThread()
    await session.sendMessage({ content: 'First.' })
    const begun = bench.next('message_update')
    void session.sendMessage({ content: 'Second.' })
    await begun
    const switched = session.mode.switch({ modeId: 'plan' })
    await bench.harness.cloneThread()
    await switched
    assert.equal(session.mode.get(), 'plan')
  })
})
