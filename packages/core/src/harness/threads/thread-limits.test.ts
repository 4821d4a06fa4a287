import assert from 'node:assert/strict'
import { suite, test } from 'node:test'
import { createTool } from '@inspan/agent'
import type { AgentSession, Binding, Host } from '@inspan/protocol/driver'
import { ForeignAgent, runs, says } from '../../engine/foreign-agent.fixture.ts'
import { HarnessBench } from '../harness.fixture.ts'

/** Says when its session was closed. */
class ClosingAgent extends ForeignAgent {
  readonly hasClosed = Promise.withResolvers<void>()

  override async open(binding: Binding | null, host: Host): Promise<AgentSession> {
    const session = await super.open(binding, host)
    const close = async (): Promise<void> => {
      await session.close()
      this.hasClosed.resolve()
    }
    return { ...session, close }
  }
}

suite('limits of a thread that a harness is given', () => {
  test('approvalTimeout: an approval that nobody gives is declined, and the run continues', async () => {
    const paint = createTool({ id: 'paint', description: 'Paints.', execute: () => 'painted' })
    const script = [{ toolCalls: [{ name: 'paint' }] }, { text: 'Then not.' }]
    await using bench = new HarnessBench(script, { approvalTimeout: 1 }, { tools: [paint] })
    await bench.harness.sendMessage({ content: 'Paint it.' })
    assert.equal(bench.all('tool_approval_required').length, 1)
    assert.equal(bench.all('tool_end')[0]?.isError, true)
    assert.equal(bench.all('agent_end')[0]?.reason, 'complete')
  })

  test('parkAfter: the program of an agent that only waits is closed, and its question stays', async () => {
    const agent: ClosingAgent = new ClosingAgent('cli', [runs(() => agent, 'make')])
    await using bench = new HarnessBench([], { agent, parkAfter: 1 })
    const sent = bench.harness.sendMessage({ content: 'Make it.' })
    await agent.hasClosed.promise
    assert.equal(bench.harness.session.displayState.get().pendingApprovals.length, 1)
    await bench.harness.abort()
    await sent
  })

  test('keepWarm: the session of an agent is closed when it has had nothing to do for so long', async () => {
    const agent = new ClosingAgent('cli', [says('Hi.')])
    await using bench = new HarnessBench([], { agent, keepWarm: 1 })
    await bench.harness.sendMessage({ content: 'Hi.' })
    await agent.hasClosed.promise
    assert.equal(bench.harness.session.thread.isSet(), true)
  })

  test('handoverTokens: how much of what others said an agent gets', async () => {
    const agent = new ForeignAgent('cli', [says('Hi.')])
    await using bench = new HarnessBench([], { agent, handoverTokens: 7 })
    await bench.harness.sendMessage({ content: 'Hi.' })
    assert.equal(agent.hosts[0]?.handover?.maxTokens, 7)
  })
})
