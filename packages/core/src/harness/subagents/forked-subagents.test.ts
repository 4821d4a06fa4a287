import assert from 'node:assert/strict'
import { suite, test } from 'node:test'
import type { JsonObject, JsonValue } from '@inspan/protocol'
import { MemoryStore } from '@inspan/stores'
import { ForeignAgent } from '../../engine/foreign-agent.fixture.ts'
import { HarnessBench } from '../harness.fixture.ts'
import type { HarnessConfig, HarnessSubagent } from '../harness-config.ts'

const COLLABORATOR: HarnessSubagent = {
  id: 'collaborator',
  name: 'Collaborator',
  description: 'Knows the conversation.',
  instructions: 'Not used.',
  forked: true,
  maxSteps: 1,
}

function fork(id: string, more: object = {}): { id: string; name: string; input: Record<string, never> } {
  return { id, name: 'subagent', input: { agentType: 'collaborator', task: 'Recall it.', ...more } as never }
}

/** The messages of a request. */
function promptOf(request: JsonObject | undefined): readonly JsonValue[] {
  const prompt = request?.['prompt']
  return Array.isArray(prompt) ? (prompt as readonly JsonValue[]) : []
}

type Script = ConstructorParameters<typeof HarnessBench>[0]

function benchOf(script: Script, config: Partial<HarnessConfig> = {}): HarnessBench {
  return new HarnessBench(script, { subagents: [COLLABORATOR], ...config }, { instructions: 'You are the parent.' })
}

suite('a forked subagent', () => {
  test('continues the request of its parent, which stays untouched', async () => {
    const storage = new MemoryStore()
    await using bench = benchOf(
      [
        { text: 'Noted.' },
        { text: 'One moment.', toolCalls: [fork('c1')] },
        { text: 'It was blue.' },
        { text: 'Blue, it says.' },
      ],
      { storage },
    )
    const { session } = bench.harness
    await bench.harness.sendMessage({ content: 'The door is blue.' })
    await bench.harness.sendMessage({ content: 'Ask about the door.' })
    assert.deepEqual(bench.all('subagent_start'), [
      {
        type: 'subagent_start',
        toolCallId: 'c1',
        agentType: 'collaborator',
        task: 'Recall it.',
        modelId: '',
        forked: true,
      },
    ])
    assert.equal(bench.all('subagent_end')[0]?.result, 'It was blue.')
    const [, parent, child] = bench.model.requests
    const [before, after] = [promptOf(parent), promptOf(child)]
    assert.deepEqual(child?.['tools'], parent?.['tools'], 'the same tools')
    assert.equal(after.length, before.length + 1)
    assert.deepEqual(after.slice(0, before.length - 1), before.slice(0, -1))
    assert.match(JSON.stringify(after.at(-2)), /Ask about the door\./, 'the latest turn is there')
    assert.match(JSON.stringify(after.at(-1)), /Recall it\./)

    const messages = await session.thread.listMessages({ threadId: session.thread.requireId() })
    assert.deepEqual(
      messages.map(({ role }) => role),
      ['user', 'assistant', 'user', 'assistant', 'assistant'],
    )
    assert.equal((await session.thread.list()).length, 1)
    const all = await session.thread.list({ includeForkedSubagents: true })
    const metadata = all.map((thread) => thread.metadata).find((each) => each?.['forkedSubagent'] === true)
    assert.equal(metadata?.['parentThreadId'], session.thread.getId())
  })

  test('has the tool that starts subagents, but starts none: the call returns that without an error', async () => {
    await using bench = benchOf([
      { toolCalls: [fork('c1')] },
      { toolCalls: [fork('c2')] },
      { text: 'Alone, then.' },
      { text: 'Done.' },
    ])
    await bench.harness.sendMessage({ content: 'Go.' })
    assert.equal(bench.all('subagent_start').length, 1)
    const [refused] = bench.all('subagent_tool_end')
    assert.equal(refused?.isError, false)
    assert.match(JSON.stringify(refused?.subToolResult), /unavailable inside a forked subagent/)
    assert.equal(bench.all('subagent_end')[0]?.result, 'Alone, then.')
  })

  test('a forked subagent that cannot be made, because its parent reports no steps, is an error that names what to do instead', async () => {
    const results: unknown[] = []
    const agent = new ForeignAgent(
      'cli',
      [
        async function* ({ toolServer }) {
          const call = { name: 'subagent', arguments: { agentType: 'collaborator', task: 'Recall it.' } }
          const reply = await fetch(toolServer?.url ?? '', {
            method: 'POST',
            headers: { authorization: `Bearer ${toolServer?.token}` },
            body: JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'tools/call', params: call }),
          })
          results.push(await reply.text())
          yield { type: 'text-delta', text: 'Alone, then.' }
        },
      ],
      { hostTools: 'mcp' },
    )
    await using bench = benchOf([], { agent })
    await bench.harness.sendMessage({ content: 'Go.' })
    assert.match(String(results[0]), /This agent cannot be forked[^]*forked[^]*false/)
    const [ended] = bench.all('tool_end')
    assert.deepEqual([ended?.isError, bench.all('subagent_start'), bench.all('error')], [true, [], []])
    assert.equal(bench.all('agent_end').at(-1)?.reason, 'complete')
  })

  test('is an ordinary one when the call requests that', async () => {
    await using bench = benchOf([{ toolCalls: [fork('c1', { forked: false })] }, { text: 'Seen.' }, { text: 'Done.' }])
    await bench.harness.sendMessage({ content: 'Go.' })
    assert.equal(bench.all('subagent_start')[0]?.forked, undefined)
    assert.match(bench.model.requestBodies[1] ?? '', /Not used\./)
    assert.doesNotMatch(bench.model.requestBodies[1] ?? '', /You are the parent\./)
  })
})
