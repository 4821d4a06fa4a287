import assert from 'node:assert/strict'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { suite, test } from 'node:test'
import { Workspace } from '@inspan/tools'
import { ForeignAgent, type Act } from '../../engine/foreign-agent.fixture.ts'
import { HarnessBench } from '../harness.fixture.ts'

suite('what an agent did', () => {
  test('is reported for native tools with message, call and agent, and with the end of the tool', async (t) => {
    const root = await mkdtemp(join(tmpdir(), 'inspan-'))
    t.after(() => rm(root, { recursive: true }))
    await writeFile(join(root, 'a.txt'), 'hello')
    const calls = [
      { id: 'r', name: 'read_file', input: { path: 'a.txt' } },
      { id: 'w', name: 'write_file', input: { path: 'b.txt', content: 'b' } },
      { id: 'c', name: 'execute_command', input: { command: 'true' } },
    ]
    const permissions = { categories: { read: 'allow', edit: 'allow', execute: 'allow' } } as const
    await using bench = new HarnessBench([...calls.map((call) => ({ toolCalls: [call] })), { text: 'Done.' }], {
      workspace: new Workspace({ root }),
      permissions,
    })
    await bench.harness.sendMessage({ content: 'Go.' })
    const told = bench.all('activity')
    const messages = await bench.harness.session.thread.listActiveMessages()
    for (const [id, type] of [
      ['r', 'read'],
      ['w', 'write'],
      ['c', 'command'],
    ] as const) {
      const own = told.filter(({ toolCallId }) => toolCallId === id)
      assert.deepEqual([...new Set(own.map(({ activity }) => activity.type))], [type], id)
      const asked = messages.find(({ content }) => content.some((each) => each.type === 'tool_call' && each.id === id))
      for (const { agentId, messageId } of own) assert.deepEqual([agentId, messageId], ['agent', asked?.id], id)
      const ended = bench.all('tool_end').find(({ toolCallId }) => toolCallId === id)
      assert.deepEqual(
        ended?.activity,
        own.map(({ activity }) => activity),
        id,
      )
    }
  })

  test('is reported for another agent in its own wording, a warning like the rest', async () => {
    const timestamp = new Date().toISOString()
    const did = [
      { type: 'warning', code: 'stall', message: 'Nothing for a while.', timestamp },
      { type: 'search', query: 'needle', isSuccess: true, timestamp },
    ] as const
    const act: Act = async function* (_turn, host) {
      yield { type: 'step-start', stepIndex: 0 }
      host.noteActivity({ mapper: 'cli', version: 1, events: did })
      yield { type: 'text-delta', text: 'Done.' }
      yield { type: 'step-finish', stepIndex: 0, finishReason: 'stop' }
    }
    await using bench = new HarnessBench([], { agent: new ForeignAgent('cli', [act]) })
    await bench.harness.sendMessage({ content: 'Go.' })
    assert.deepEqual(
      bench.all('activity').map(({ activity, agentId }) => [agentId, activity]),
      did.map((each) => ['cli', each]),
    )
  })
})
