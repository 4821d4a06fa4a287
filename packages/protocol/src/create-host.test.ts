import assert from 'node:assert/strict'
import { suite, test } from 'node:test'
import { checkEffort } from './check-effort.ts'
import { createHost } from './create-host.ts'
import { InspanError } from './errors.ts'

suite('a host made of nothing', () => {
  const call = { toolCallId: 'c', toolName: 'rm', args: {} }

  test('allows nothing and has no tools', async () => {
    const host = createHost()
    assert.equal(host.decide(call).policy, 'deny')
    assert.deepEqual(host.listTools(), [])
    assert.equal((await host.callTool(call)).isError, true)
    assert.deepEqual(await Array.fromAsync(host.history({ order: 'oldest' })), [])
  })

  test('refuses a question that nobody can answer', async () => {
    const asked = createHost().ask({ id: 'w', kind: 'question', agentId: 'a', subject: {}, title: '?' } as never)
    await assert.rejects(asked, (error) => InspanError.is(error, 'unsupported'))
  })

  test('is what it is given, and the rest', () => {
    const host = createHost({ redact: () => '***', now: () => 7 })
    assert.deepEqual([host.redact('sk-1'), host.now(), host.listTools()], ['***', 7, []])
  })
})

suite('effort', () => {
  test('is refused with the levels that an agent takes', () => {
    assert.equal(checkEffort('Codex', 'high', ['low', 'high']), 'high')
    assert.throws(
      () => checkEffort('Codex', 'max', ['low', 'high']),
      (error) => InspanError.is(error, 'unsupported') && error.hint === 'It takes low, high.',
    )
  })
})
