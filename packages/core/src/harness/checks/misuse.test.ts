import assert from 'node:assert/strict'
import { suite, test } from 'node:test'
import { createTool } from '@inspan/agent'
import { InspanError, type ToolCategory } from '@inspan/protocol'
import { HarnessBench } from '../harness.fixture.ts'
import type { StandingRules } from '../harness-config.ts'
import type { ApprovalDecision } from '../sessions/suspensions.ts'

const PAINT = { toolCalls: [{ id: 'c1', name: 'paint' }] }

function paint(journal: string[]): ReturnType<typeof createTool> {
  return createTool({
    id: 'paint',
    description: 'Paints.',
    category: 'edit',
    execute: async () => {
      journal.push('paint')
      return 'painted'
    },
  })
}

const isInvalid = (field: string) => (error: unknown) => {
  assert.ok(InspanError.is(error, 'invalid-input'), String(error))
  assert.match(error.message, new RegExp(field))
  return true
}

suite('an invalid decision about an approval', () => {
  for (const decision of ['deny', 'declined', 'no', '', undefined, null, false, true, 0, {}]) {
    test(`${JSON.stringify(decision) ?? 'nothing'} is refused, and the call goes on waiting`, async () => {
      const journal: string[] = []
      await using bench = new HarnessBench([PAINT, { text: 'Done.' }], { tools: { paint: paint(journal) } })
      const { session } = bench.harness
      const asked = bench.next('tool_approval_required')
      const sent = bench.harness.sendMessage({ content: 'Paint' })
      await asked
      await assert.rejects(
        session.respondToToolApproval({ decision: decision as ApprovalDecision }),
        isInvalid('decision'),
      )
      assert.deepEqual(session.displayState.get().pendingApproval?.toolCallId, 'c1')
      assert.deepEqual(session.getGrants(), { categories: [], tools: [] })
      await session.respondToToolApproval({ decision: 'decline' })
      await sent
      assert.deepEqual(journal, [])
    })
  }
})

suite('permissions that set nothing', () => {
  test('an unknown category is not granted', async () => {
    await using bench = new HarnessBench([])
    const { session } = bench.harness
    await assert.rejects(session.grantCategory('bogus' as ToolCategory), isInvalid('category'))
    await assert.rejects(session.grantTool(undefined as unknown as string), isInvalid('toolName'))
    assert.deepEqual(session.getGrants(), { categories: [], tools: [] })
  })

  test('rules in the wrong place are shown as they were given', () => {
    const permissions = { edit: 'ask' } as StandingRules
    assert.throws(() => new HarnessBench([], { permissions }), isInvalid('and no `edit`. Found: {"edit":"ask"}$'))
  })

  test('a word does not turn the asking off', async () => {
    await using bench = new HarnessBench([])
    const { permissions } = bench.harness.session
    await assert.rejects(permissions.setYolo({ enabled: 'false' as unknown as boolean }), isInvalid('enabled'))
    assert.equal(permissions.isYolo(), false)
  })

  test('a policy that is none is no rule', async () => {
    await using bench = new HarnessBench([])
    const { permissions } = bench.harness.session
    await assert.rejects(permissions.setForTool({ toolName: 'paint', policy: 'denied' as 'deny' }), isInvalid('policy'))
    assert.equal(permissions.getRules().tools['paint'], undefined)
  })
})

suite('what a thread refuses', () => {
  const input = { source: 'ci', kind: 'status', summary: 'CI failed.' }
  const notifications: Readonly<Record<string, object>> = {
    source: {},
    kind: { source: 'ci' },
    summary: { ...input, summary: '' },
    priority: { ...input, priority: 'huge' },
  }
  for (const [field, given] of Object.entries(notifications)) {
    test(`a notification with an invalid ${field}`, async () => {
      await using bench = new HarnessBench([])
      await assert.rejects(bench.harness.sendNotificationSignal(given as never), isInvalid(field))
      assert.deepEqual(bench.harness.session.signals.listNotifications(), [])
    })
  }

  test('a signal of no known type, or without content', async () => {
    await using bench = new HarnessBench([])
    const { harness } = bench
    await assert.rejects(harness.sendSignal({ type: 'wrong', contents: 'Hi' } as never).accepted, isInvalid('type'))
    await assert.rejects(harness.sendSignal({ type: 'user' } as never).accepted, isInvalid('contents'))
    assert.equal(bench.model.calls, 0)
  })

  test('a model without an id', async () => {
    await using bench = new HarnessBench([])
    const { model } = bench.harness.session
    await assert.rejects(model.switch({} as never), isInvalid('modelId'))
    await assert.rejects(model.set({ modelId: 5 } as never), isInvalid('modelId'))
    await assert.rejects(model.switch({ modelId: 'a/b', scope: 'everywhere' } as never), isInvalid('scope'))
    assert.equal(model.get(), '')
  })
})
