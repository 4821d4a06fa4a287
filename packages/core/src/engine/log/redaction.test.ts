import assert from 'node:assert/strict'
import { suite, test } from 'node:test'
import { createTool, nativeDriver, type Tool, type ToolContext } from '@inspan/agent'
import { InspanError, type StoredMessage } from '@inspan/protocol'
import { MemoryStore } from '@inspan/stores'
import { scriptedModel } from '@inspan/testing'
import { z } from 'zod'
import { AgentBench, type AgentBenchOptions, type ModelScript } from '../agent-bench.fixture.ts'
import { ForeignAgent } from '../foreign-agent.fixture.ts'
import { WITHHELD, type Redactor } from './redactor.ts'
import { requestPrefix } from '../context/request-prefix.ts'
import type { RunnableTool } from '../calls/runnable-tool.ts'
import { RuntimeBench } from '../runtime-bench.fixture.ts'
import type { Door } from '../thread-options.ts'
import { ThreadRuntime } from '../thread-runtime.ts'
import { boundaryAt } from '../threads/boundaries.ts'
import { ProcessOwner } from '../threads/ownership.ts'
import { ThreadRegistry } from '../threads/thread-registry.ts'
import { createThread, forkThread } from '../threads/threads.ts'
import { recordsAfter } from './load-state.ts'

const redact: Redactor = (text) => text.replace(/sk-\w+/g, '[key]')

const FETCH: ModelScript = [
  { reasoning: 'I know sk-1.', toolCalls: [{ id: 'c1', name: 'fetch', input: { key: 'sk-1' } }] },
  { text: 'It said sk-2.' },
]

type Execute = (input: { key: string }, context?: Pick<ToolContext, 'progress'>) => unknown

function fetch(got: string[], more: { requireApproval?: true; execute?: Execute } = {}): Tool {
  return createTool({
    id: 'fetch',
    description: 'Fetches.',
    inputSchema: z.object({ key: z.string() }),
    execute: ({ key }, context) => {
      got.push(key)
      context.progress('sk-2…')
      return { body: 'sk-2', headers: { 'sk-3': 'set-cookie: sk-4' } }
    },
    ...more,
  })
}

const openBench = (script: ModelScript, tools: readonly Tool[], options: AgentBenchOptions = {}): Promise<AgentBench> =>
  AgentBench.open(script, { ...options, agent: { tools, ...options.agent }, runtime: { redact, ...options.runtime } })

suite('what our own agent and its tools produce', () => {
  test('is redacted on record, in the view and in what the model is asked with next', async () => {
    const got: string[] = []
    await using bench = await openBench(FETCH, [fetch(got)])
    assert.equal(await bench.play('Use sk-0.'), 'complete')

    assert.deepEqual(got, ['sk-1'], 'the tool itself is given what the model said')
    const records = JSON.stringify(await bench.records())
    assert.doesNotMatch(records.replaceAll('sk-0', ''), /sk-/)
    assert.doesNotMatch(JSON.stringify(await bench.messages()).replaceAll('sk-0', ''), /sk-/)
    const [call] = await bench.eventsOf('tool-call')
    assert.deepEqual([call?.args, call?.meta?.redacted], [{ key: '[key]' }, true])
    const [, second] = bench.prompts()
    assert.doesNotMatch(second?.slice(1).join() ?? '', /sk-/)
    assert.match(second?.join() ?? '', /Use sk-0\./, 'what the user said is what the user said')
    assert.match(second?.join() ?? '', /"input":\{"key":"\[key\]"\}/)
    assert.match(second?.join() ?? '', /set-cookie: \[key\]/)
    assert.doesNotMatch(second?.join() ?? '', /"reasoning"/, 'nobody vouches for a thought that was changed')
  })

  test('is asked again as the log has it, the instructions too', async () => {
    await using bench = await openBench([{ text: 'Hi.' }], [], { agent: { instructions: 'Never show sk-9.' } })
    await bench.play()
    const prefix = await requestPrefix(bench.store, bench.runtime.state.head.lineage, bench.runtime.state.head.seq)
    assert.equal(prefix?.system, 'Never show [key].')
    assert.deepEqual(bench.prompts()[0]?.[0], JSON.stringify({ role: 'system', content: 'Never show [key].' }))
  })

  test('is not shown live before it is complete, as nobody knows where a secret ends', async () => {
    const text = ['It is s', 'k-', '12', '34 and', ' more.']
    await using bench = await openBench([{ text }], [])
    const live: unknown[] = []
    bench.runtime.onEntry((entry) => {
      if (entry.kind === 'delta' && entry.event.type === 'text-delta') live.push([entry.event.text, entry.event.meta])
    })
    await bench.play()
    assert.deepEqual(live, [['It is [key] and more.', { redacted: true }]])
    assert.equal(textOf((await bench.messages()).at(-1)), 'It is [key] and more.')
  })

  test('is shown live as far as the redactor has settled it, also a secret that is spread over pieces', async () => {
    const byWord = Object.assign((text: string) => redact(text), {
      settled: (text: string) => text.lastIndexOf(' ') + 1,
    })
    const script: ModelScript = [
      { reasoning: ['Use s', 'k-', '1 ', 'now.'], toolCalls: [{ id: 'c1', name: 'fetch', input: { key: 'sk-1' } }] },
      { text: ['It is s', 'k-', '12', '34 and', ' more.'] },
    ]
    const told = fetch([], {
      execute: (_input, context) => {
        for (const piece of ['out s', 'k-5', '6 x']) context?.progress(piece)
        return 'sk-8'
      },
    })
    await using bench = await openBench(script, [told], { runtime: { redact: byWord } })
    const live: [string, string, unknown][] = []
    bench.runtime.onEntry((entry) => {
      assert.doesNotMatch(JSON.stringify(entry.kind === 'delta' ? entry : entry.record), /sk-?\d|k-\d/)
      if (entry.kind !== 'delta') return
      const { event } = entry
      const text =
        event.type === 'tool-call-delta'
          ? event.argsTextDelta
          : event.type === 'tool-progress'
            ? (event.output ?? '')
            : event.text
      live.push([event.type, text, event.meta])
    })
    await bench.play()
    const marked = { redacted: true }
    assert.deepEqual(live, [
      ['reasoning-delta', 'Use ', undefined],
      ['reasoning-delta', '[key] ', marked],
      ['reasoning-delta', 'now.', undefined],
      ['tool-call-delta', '', undefined],
      ['tool-call-delta', '{"key":"[key]"}', undefined],
      ['tool-progress', 'out ', undefined],
      ['tool-progress', '[key] ', marked],
      ['tool-progress', 'x', undefined],
      ['text-delta', 'It is ', undefined],
      ['text-delta', '[key] ', marked],
      ['text-delta', 'and ', undefined],
      ['text-delta', 'more.', undefined],
    ])
  })

  test('costs no redaction per piece of a word, however many there are', async () => {
    const asked: number[] = []
    for (const pieces of [10, 1000]) {
      let count = 0
      const counting = Object.assign((text: string) => redact(text), { settled: () => (count++, 0) })
      const text = ['sk-1', ...Array.from({ length: pieces - 1 }, () => 'x')]
      await using bench = await openBench([{ text }], [], { runtime: { redact: counting } })
      await bench.play()
      asked.push(count)
    }
    assert.deepEqual(asked, [0, 0])
  })

  test('is redacted in errors and in an answer that is data', async () => {
    const failing = fetch([], {
      execute: () => {
        throw new Error('no access with sk-2')
      },
    })
    await using bench = await openBench([FETCH[0], { text: '{"key":"sk-6"}' }] as ModelScript, [failing])
    const output = { schema: { type: 'object', properties: { key: { type: 'string' } } } } as const
    assert.equal(await bench.play('Go.', { turn: { output } }), 'complete')
    const ended = (await bench.records()).map(({ body }) => body).find((body) => body.type === 'run.ended')
    assert.deepEqual(ended?.output, { key: '[key]' })
    assert.match(JSON.stringify(await bench.records()), /no access with \[key\]/)
    assert.doesNotMatch(JSON.stringify(await bench.records()), /sk-/)
  })
})

suite('a question about a call whose arguments were redacted', () => {
  const approved = (got: string[]): Tool => fetch(got, { requireApproval: true })

  test('does not show them, and the call is carried out as it was meant', async () => {
    const got: string[] = []
    await using bench = await openBench(FETCH, [approved(got)])
    const run = await bench.submit('Go.')
    const wait = await bench.wait()
    assert.deepEqual(wait.subject.args, { key: '[key]' })
    assert.doesNotMatch(JSON.stringify(await bench.store.listWaits({ stream: 'thread' })), /sk-/)
    await bench.runtime.answer(wait.id, { decision: 'approve' })
    assert.equal(await run.done, 'complete')
    assert.deepEqual(got, ['sk-1'])
  })

  test('is not asked for ever when what the tool expects to find is redacted as well', async () => {
    const got: string[] = []
    const tool: RunnableTool = {
      name: 'fetch',
      inputSchema: { type: 'object' },
      preconditions: async () => ({ 'sk-1.txt': 'hash' }),
      execute: async ({ key }) => {
        got.push(JSON.stringify(key))
        return { result: 'done' }
      },
    }
    const driver = nativeDriver({ id: 'native', model: scriptedModel(FETCH) })
    await using bench = await RuntimeBench.open({ native: { driver, tools: [tool] } }, { redact })
    const run = await bench.submit('Go.', { agentId: 'native' })
    const wait = await bench.wait()
    assert.deepEqual(wait.preconditions, { '[key].txt': 'hash' })
    await bench.runtime.answer(wait.id, { decision: 'approve' })
    assert.equal(await run.done, 'complete')
    assert.deepEqual(got, ['"sk-1"'])
  })

  test('keeps the thread in this process, which alone knows them', async () => {
    const got: string[] = []
    const runtime = { passivateAfter: 1 }
    await using bench = await openBench(FETCH, [approved(got)], { runtime })
    const run = await bench.submit('Go.')
    const wait = await bench.wait()
    // A thread without redacted arguments is released meanwhile.
    const plain = [{ toolCalls: [{ id: 'c1', name: 'fetch', input: { key: 'none' } }] }, { text: 'Done.' }]
    await using other = await openBench(plain, [approved([])], { runtime })
    await other.submit('Go.')
    await other.wait()
    while (other.runtime.isHeld) await new Promise((resolve) => setImmediate(resolve))
    assert.ok(bench.runtime.isHeld)
    await bench.runtime.answer(wait.id, { decision: 'approve' })
    assert.equal(await run.done, 'complete')
    assert.deepEqual(got, ['sk-1'])
  })

  test('can be answered after a restart, but nothing is done with arguments nobody knows', async () => {
    const got: string[] = []
    await using bench = await openBench([FETCH[0], { text: 'I see.' }] as ModelScript, [approved(got)])
    await bench.submit('Go.')
    const { id } = await bench.wait()
    await bench.restart()
    await bench.runtime.answer(id, { decision: 'approve' })
    await bench.runtime.idle()
    assert.deepEqual(got, [])
    const [result] = await bench.eventsOf('tool-result')
    assert.equal(result?.isError, true)
    assert.match(JSON.stringify(result?.result), /arguments were redacted/)
    assert.match(bench.prompts()[1]?.join() ?? '', /Make it again if it is still wanted/)
  })
})

suite('a redactor that fails', () => {
  const failing: Redactor = (text) => {
    if (text.includes('sk-')) throw new Error(`cannot redact ${text}`)
    return text
  }

  test('withholds what it was given, reports that once in a run, and ends nothing', async () => {
    const got: string[] = []
    await using bench = await openBench(FETCH, [fetch(got)], { runtime: { redact: failing } })
    assert.equal(await bench.play(), 'complete')
    assert.deepEqual(got, ['sk-1'])
    assert.doesNotMatch(JSON.stringify(await bench.records()), /sk-/)
    assert.equal(textOf((await bench.messages()).at(-1)), WITHHELD)
    assert.match(bench.prompts()[1]?.join() ?? '', /withheld/)
    assert.deepEqual(
      (await bench.notes('warning')).map(({ data }) => data),
      [{ code: 'withheld' }],
    )
  })

  test('can fail at everything', async () => {
    const all: Redactor = () => {
      throw new Error('never')
    }
    await using bench = await openBench(FETCH, [fetch([])], { runtime: { redact: all } })
    assert.equal(await bench.play(), 'complete')
    const [warning] = await bench.notes('warning')
    assert.match(warning?.text ?? '', /The redactor has failed/)
  })
})

suite('what a foreign agent produces', () => {
  test('is redacted on record only: the agent itself gets everything', async () => {
    const seen: unknown[] = []
    const agent = new ForeignAgent('cli', [
      async function* (_turn, host) {
        yield { type: 'tool-call', toolCallId: 'c', toolName: 'fetch', args: { key: 'sk-1' } }
        const subject = { toolCallId: 'c', toolName: 'fetch', args: { key: 'sk-1' } }
        const answer = await host.ask({ id: 'w', kind: 'question', subject, description: 'May I use sk-1?' })
        seen.push(answer.value, host.redact('sk-3'))
        yield { type: 'tool-result', toolCallId: 'c', toolName: 'fetch', result: 'sk-2' }
        yield { type: 'text-delta', text: 'It was sk-2.' }
      },
    ])
    await using bench = await RuntimeBench.open({ cli: { driver: agent } }, { redact })
    const run = await bench.submit('Use sk-0.', { agentId: 'cli' })
    const wait = await bench.wait()
    assert.deepEqual([wait.description, wait.subject.args], ['May I use [key]?', { key: '[key]' }])
    await bench.runtime.answer(wait.id, { decision: 'answer', value: 'Yes, sk-0.' })
    await run.done
    // The agent records raw lines itself, redacted by its host.
    assert.deepEqual(seen, ['Yes, sk-0.', '[key]'])
    assert.deepEqual(JSON.stringify(agent.turns[0]?.input), '[{"id":"0","type":"text","text":"Use sk-0."}]')
    assert.doesNotMatch(JSON.stringify(await bench.records()).replaceAll('sk-0', ''), /sk-/)
    assert.equal((await agent.describe()).redaction, 'record')
  })
})

function textOf(message: StoredMessage | undefined): string {
  return message?.parts.map((part) => (part.type === 'text' ? part.text : '')).join('') ?? ''
}

suite('a thread that was written under redaction', () => {
  test('is not opened without a redactor, and explains why', async () => {
    await using bench = await openBench([{ text: 'It is sk-1.' }, { text: 'Again.' }], [])
    await bench.play('Go.')
    const { store } = bench
    const owner = await ProcessOwner.register(store)
    await bench.runtime.close()
    const before = await bench.records()
    const open = (more: { redact?: Redactor }): Promise<ThreadRuntime> =>
      ThreadRuntime.open({ store, owner, thread: 'thread', agents: {}, ...more })
    await assert.rejects(open({}), (error) => InspanError.is(error, 'redactor-required'))
    assert.deepEqual(await bench.records(), before)
    const again = await open({ redact: (text) => text })
    await again.close()
  })

  test('hands that on to its forks', async () => {
    await using bench = await openBench([{ text: 'It is sk-1.' }], [])
    await bench.play('Go.')
    const { store } = bench
    const owner = await ProcessOwner.register(store)
    const { head } = bench.runtime.state
    const at = await boundaryAt(store, head.lineage, head.seq)
    await forkThread(store, owner, bench.runtime.state, { id: 'fork', resourceId: 'test', at, now: 0 })
    await assert.rejects(ThreadRuntime.open({ store, owner, thread: 'fork', agents: {} }), (error) =>
      InspanError.is(error, 'redactor-required'),
    )
  })

  test('records that as soon as anything is recorded', async () => {
    await using bench = await openBench([], [])
    await bench.runtime.record([{ type: 'note', kind: 'info', text: 'sk-1' }])
    await bench.runtime.close()
    const { store } = bench
    const owner = await ProcessOwner.register(store)
    await assert.rejects(ThreadRuntime.open({ store, owner, thread: 'thread', agents: {} }), (error) =>
      InspanError.is(error, 'redactor-required'),
    )
  })

  test('stays redacted when the door with the redactor leaves', async () => {
    const store = new MemoryStore()
    await createThread(store, { id: 'thread', resourceId: 'test' })
    const registry = ThreadRegistry.of(store)
    const model = scriptedModel([{ text: 'It is sk-1.' }])
    const plain: Door = { door: 'plain', agents: { me: { driver: nativeDriver({ id: 'me', model }) } } }
    const careful: Door = { door: 'careful', agents: {}, redact }
    const runtime = await registry.enter('thread', plain)
    await registry.enter('thread', careful)
    await registry.leave('thread', careful)
    const run = await runtime.submit({ door: 'plain', agentId: 'me', parts: [{ id: '0', type: 'text', text: 'Go.' }] })
    await run.done
    await registry.leave('thread', plain)
    const said = await Array.fromAsync(recordsAfter(store, 'thread', 0))
    assert.match(JSON.stringify(said), /It is \[key\]/)
    assert.doesNotMatch(JSON.stringify(said), /sk-1/)
  })
})
