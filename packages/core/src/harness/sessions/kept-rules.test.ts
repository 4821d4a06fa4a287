import assert from 'node:assert/strict'
import { suite, test } from 'node:test'
import { MemoryStore } from '@inspan/stores'
import { HarnessBench } from '../harness.fixture.ts'

const RM = { toolName: 'rm', policy: 'deny' } as const

suite('a deny over a restart', () => {
  test('set before there is a thread: it is in the one that the first message makes', async () => {
    const storage = new MemoryStore()
    const first = new HarnessBench([{ text: 'Yes.' }], { storage })
    await first.harness.session.permissions.setForTool(RM)
    await first.harness.sendMessage({ content: 'Hi' })
    await first.harness.destroy()
    await using second = new HarnessBench([], { storage })
    await second.harness.selectOrCreateThread()
    assert.equal(second.harness.session.permissions.getRules().tools['rm'], 'deny')
  })

  test('set in one thread: it is in those that are made after it, as it was shown there', async () => {
    const storage = new MemoryStore()
    const first = new HarnessBench([], { storage })
    await first.harness.createThread()
    await first.harness.session.permissions.setForTool(RM)
    const two = await first.harness.createThread()
    assert.equal(first.harness.session.permissions.getRules().tools['rm'], 'deny')
    await first.harness.destroy()
    await using second = new HarnessBench([], { storage })
    await second.harness.switchThread({ threadId: two.id })
    assert.equal(second.harness.session.permissions.getRules().tools['rm'], 'deny')
  })

  test('set without a thread: it is in the one that is selected next, in addition to the denies that were there', async () => {
    const storage = new MemoryStore()
    const first = new HarnessBench([], { storage })
    await first.harness.createThread()
    await first.harness.session.permissions.setForTool({ toolName: 'mv', policy: 'deny' })
    const other = await first.harness.createThread()
    await first.harness.destroy()
    const second = new HarnessBench([], { storage })
    await second.harness.session.permissions.setForTool(RM)
    await second.harness.session.permissions.setForTool({ toolName: 'mv', policy: 'allow' })
    await second.harness.switchThread({ threadId: other.id })
    await second.harness.destroy()
    await using third = new HarnessBench([], { storage })
    await third.harness.switchThread({ threadId: other.id })
    const { tools } = third.harness.session.permissions.getRules()
    assert.deepEqual([tools['rm'], tools['mv']], ['deny', 'deny'])
  })

  test('set at once with another, and while the thread is being made: both are kept', async () => {
    const storage = new MemoryStore()
    const first = new HarnessBench([], { storage })
    const created = first.harness.createThread()
    const { permissions } = first.harness.session
    const set = [permissions.setForTool(RM), permissions.setForTool({ toolName: 'mv', policy: 'deny' })]
    await Promise.all([created, ...set])
    await first.harness.destroy()
    await using second = new HarnessBench([], { storage })
    await second.harness.selectOrCreateThread()
    const { tools } = second.harness.session.permissions.getRules()
    assert.deepEqual([tools['rm'], tools['mv']], ['deny', 'deny'])
  })

  test('set in one thread: it is not written to another that is only read', async () => {
    const storage = new MemoryStore()
    const first = new HarnessBench([], { storage })
    const one = await first.harness.createThread()
    await first.harness.createThread()
    await first.harness.session.permissions.setForTool(RM)
    await first.harness.switchThread({ threadId: one.id })
    await first.harness.destroy()
    await using second = new HarnessBench([], { storage })
    await second.harness.switchThread({ threadId: one.id })
    assert.equal(second.harness.session.permissions.getRules().tools['rm'], undefined)
  })
})
