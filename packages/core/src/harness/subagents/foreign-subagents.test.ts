import assert from 'node:assert/strict'
import { suite, test } from 'node:test'
import { scriptedModel } from '@inspan/testing'
import { ForeignAgent, runs, says } from '../../engine/foreign-agent.fixture.ts'
import { HarnessBench } from '../harness.fixture.ts'
import type { ModelGateway } from '../models/model-types.ts'
import { call, EXPLORE } from './subagent-bench.fixture.ts'

suite('a foreign agent as a subagent', () => {
  test('does the task in its own session, and its answer is the result of the call', async () => {
    const agent = new ForeignAgent('cli', [says('I saw a door.')])
    await using bench = new HarnessBench([{ toolCalls: [call('c1', 'Look.')] }, { text: 'Done.' }], {
      subagents: [{ ...EXPLORE, agent }],
    })
    await bench.harness.sendMessage({ content: 'Go.' })
    assert.equal(bench.all('subagent_end')[0]?.result, 'I saw a door.')
    assert.match(JSON.stringify(agent.turns[0]?.input), /Look\./)
    assert.equal(agent.turns.length, 1)
  })

  for (const decision of ['approve', 'decline'] as const) {
    test(`asks the root before it acts, and hears ${decision}`, async () => {
      const agent: ForeignAgent = new ForeignAgent('cli', [runs(() => agent, 'make', 'call-1')])
      await using bench = new HarnessBench([{ toolCalls: [call('c1', 'Build it.')] }, { text: 'Done.' }], {
        subagents: [{ ...EXPLORE, agent }],
      })
      const required = bench.next('tool_approval_required')
      const sent = bench.harness.sendMessage({ content: 'Go.' })
      const { subagent, toolCallId, toolName } = await required
      assert.deepEqual([toolCallId, toolName, subagent?.task], ['call-1', 'execute_command', 'Build it.'])
      await bench.harness.session.respondToToolApproval({ decision })
      await sent
      assert.deepEqual(agent.journal, decision === 'approve' ? ['make'] : [])
    })
  }
})

suite('the model of a subagent', () => {
  test('comes from resolveModel first, then from a gateway', async () => {
    const worker = scriptedModel([{ text: 'Seen.', repeat: true }])
    const asked: string[] = []
    const gateway: ModelGateway = {
      id: 'corp',
      name: 'Corp',
      fetchProviders: async () => ({}),
      handlesModel: (modelId) => modelId === 'test/small',
      getApiKey: async () => 'key',
      resolveLanguageModel: () => {
        asked.push('gateway')
        return worker
      },
    }
    for (const known of [true, false]) {
      await using bench = new HarnessBench([{ toolCalls: [call('c1', 'Look.')] }, { text: 'Done.' }], {
        subagents: [EXPLORE],
        gateways: [gateway],
        resolveModel: (modelId) => {
          asked.push(`resolveModel ${modelId}`)
          return known ? worker : (undefined as never)
        },
      })
      await bench.harness.sendMessage({ content: 'Go.' })
      assert.equal(bench.all('subagent_end')[0]?.result, 'Seen.')
      assert.deepEqual(
        new Set(asked.splice(0)),
        new Set(known ? ['resolveModel test/small'] : ['resolveModel test/small', 'gateway']),
      )
    }
  })
})
