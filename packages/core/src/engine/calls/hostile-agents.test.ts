import assert from 'node:assert/strict'
import { setImmediate as nextTask } from 'node:timers/promises'
import { suite, test } from 'node:test'
import { nativeDriver } from '@inspan/agent'
import type { AgentEvent } from '@inspan/protocol'
import type { AgentDriver, AgentSession, Capabilities, Host, RunnableTool, Turn } from '@inspan/protocol/driver'
import { emptyState, reduce, storedHead, storedMessage, type LogRecord, type RecordType } from '@inspan/protocol/log'
import { scriptedModel } from '@inspan/testing'
import { isOpenCall } from '../turns/active-run.ts'
import { ForeignAgent, says } from '../foreign-agent.fixture.ts'
import { RuntimeBench } from '../runtime-bench.fixture.ts'

type Run = (turn: Turn, host: Host) => AsyncIterable<AgentEvent>

/** An agent that ignores everything it is told. */
function hostile(run: Run, continuity: Capabilities['continuity'], more: Partial<AgentSession> = {}): AgentDriver {
  const polite = new ForeignAgent('rude', [], { continuity })
  return {
    port: 1,
    id: 'rude',
    describe: () => polite.describe(),
    open: async (binding, host) => ({
      ...(await polite.open(binding, host)),
      run: (turn) => run(turn, host),
      ...more,
    }),
  }
}

/** A value that no type would allow. */
const anything = (value: unknown): never => value as never

const circle: { self?: unknown } = {}
circle.self = circle

const step = { type: 'step-start', stepIndex: 0 } as const
const call = { type: 'tool-call', toolCallId: 'c', toolName: 'look', args: {} } as const
const result = (value: unknown): AgentEvent => ({
  type: 'tool-result',
  toolCallId: 'c',
  toolName: 'look',
  result: anything(value),
})
const finish = { type: 'finish', finishReason: 'stop' } as const

const utters = (...events: readonly unknown[]): Run =>
  async function* () {
    yield* events as readonly AgentEvent[]
  }

/** An iterator with a given `return`. */
const endsWith = (end: () => Promise<never>): Run => {
  return () => {
    const events: readonly AgentEvent[] = [step, { type: 'text-delta', text: 'x' }]
    let at = 0
    const next = async (): Promise<IteratorResult<AgentEvent>> => {
      const value = events[at++]
      return value === undefined ? new Promise<never>(() => undefined) : { done: false, value }
    }
    return { [Symbol.asyncIterator]: () => ({ next, return: end }) }
  }
}

const RUDE: { readonly [what: string]: Run } = {
  'goes on after its finish': utters(step, call, finish, { type: 'text-delta', text: 'More.' }, step, result('late'), {
    type: 'finish',
    finishReason: 'error',
  }),
  'finishes a thousand times': utters(...Array.from({ length: 1000 }, () => finish)),
  'begins nothing and ends everything': utters(result('of nothing'), { type: 'step-finish', stepIndex: 7 }, finish),
  'never says that it is done': utters(step, call, { type: 'text-delta', text: 'So' }),
  'makes a thousand calls and leaves them': utters(
    step,
    ...Array.from({ length: 1000 }, (_, i) => ({ ...call, toolCallId: `c${i}` })),
    finish,
  ),
  'makes a thousand calls at once': utters(
    step,
    ...Array.from({ length: 1000 }, (_, i) => ({ ...call, toolCallId: `c${i}` })),
    ...Array.from({ length: 1000 }, (_, i) => ({ ...result(i), toolCallId: `c${999 - i}` })),
    finish,
  ),
  'gives the same call twice, and three results': utters(
    step,
    call,
    call,
    result('one'),
    result('two'),
    result('three'),
    finish,
  ),
  'gives a result that is no JSON: a bigint': utters(step, call, result(1n), finish),
  'gives a result that is no JSON: itself': utters(step, call, result(circle), finish),
  'gives a result that is no JSON: nothing': utters(step, call, result(undefined), finish),
  'gives a result that is no JSON: no number': utters(step, call, result({ a: [Number.NaN, -0, Infinity] }), finish),
  'gives a result that is no JSON: a date and a function': utters(
    step,
    call,
    result({ at: new Date(0), of: () => 1, map: new Map([[1, 2]]) }),
    finish,
  ),
  'gives a result with keys of a prototype': utters(
    step,
    call,
    result(JSON.parse('{"__proto__":{"a":1},"constructor":{"prototype":{}}}')),
    finish,
  ),
  'orders what is no JSON': utters(step, { ...call, args: { n: 1n } }, finish),
  'makes a file that is none': utters(
    step,
    { type: 'file', mimeType: 'image/png', data: 'x', meta: { n: 1n } },
    finish,
  ),
  'ends a text with what is no JSON': utters(
    step,
    { type: 'text-delta', partId: 'a', text: 'So' },
    { type: 'text-delta', partId: 'a', text: '', meta: { end: true, n: 1n } },
    finish,
  ),
  'finishes with what is no JSON': utters(step, call, { ...finish, meta: { output: 1n } }),
  'fails with what is no JSON': utters(step, call, { type: 'error', error: { name: 'E', message: 'm', details: 1n } }),
  'asks a model with what is no JSON': utters({ ...step, meta: { request: { tools: 1n } } }, finish),
  'calls again by the same name': utters(step, call, result('one'), call, result('two'), finish),
  'never ends the input of a call': utters(
    step,
    { type: 'tool-call-delta', toolCallId: 'c', toolName: 'look', argsTextDelta: '{"a":' },
    finish,
  ),
  'goes on with the input of a call that it has made': utters(
    step,
    call,
    { type: 'tool-call-delta', toolCallId: 'c', toolName: 'look', argsTextDelta: '{"a":' },
    result('one'),
    { type: 'tool-call-delta', toolCallId: 'c', toolName: 'look', argsTextDelta: '1}' },
    { type: 'tool-progress', toolCallId: 'c', toolName: 'look', output: 'late' },
    finish,
  ),
  'mixes up what its parts are': utters(
    step,
    { type: 'text-delta', partId: 'a', text: 'text' },
    { type: 'reasoning-delta', partId: 'a', text: 'thought' },
    { type: 'text-delta', partId: 'a', text: 'text' },
    { type: 'tool-call-delta', toolCallId: 'a', argsTextDelta: '{}' },
    { ...call, toolCallId: 'a' },
    { type: 'step-start', stepIndex: 0 },
    { type: 'text-delta', partId: 'a', text: 'text' },
    { ...result('late'), toolCallId: 'a' },
    finish,
  ),
  'speaks for calls that there are not': utters(
    step,
    { type: 'text-delta', text: 'x', parentToolCallId: 'nowhere' },
    { ...call, parentToolCallId: 'c' },
    { ...result('r'), parentToolCallId: 'c' },
    { type: 'tool-progress', toolCallId: 'nobody', toolName: 'look', output: 'x' },
    finish,
  ),
  'gives half a character': utters(step, { type: 'text-delta', text: '\uD83D' }, call, result('\uDE00'), finish),
  'gives a result of many megabytes': utters(step, call, result('x'.repeat(8_000_000)), finish),
  'has calls with the names of prototypes': utters(
    step,
    { ...call, toolCallId: '__proto__' },
    { ...result('a'), toolCallId: '__proto__' },
    { ...call, toolCallId: 'constructor', toolName: 'toString' },
    finish,
  ),
  'says what is no event: null': utters(null),
  'says what is no event: a text': utters('hello', { type: 'no such type' }, finish),
  'says texts that are none': utters(step, { type: 'text-delta', text: 5 }, { type: 'text-delta' }, finish),
  'has used what cannot be counted': utters(
    step,
    { type: 'step-finish', stepIndex: 0, finishReason: 'stop', usage: { inputTokens: Number.NaN, outputTokens: -1 } },
    { ...finish, usage: { inputTokens: Infinity } },
  ),
  'throws what is no error': async function* () {
    yield step
    throw anything(undefined)
  },
  'throws at once': () => {
    throw new Error('No.')
  },
  'is no iterator': () => anything(undefined),
}

/** Checks that the run has one end and everybody sees the same, whatever the agent does. */
async function check(bench: RuntimeBench): Promise<void> {
  const records = await bench.records()
  const count = (type: RecordType): number => records.filter(({ body }) => body.type === type).length
  assert.equal(bench.runtime.state.head.run, null, 'a run is left')
  assert.equal(bench.runtime.state.head.waits.size, 0, 'a question is left')
  assert.equal(count('run.ended'), count('run.started'), 'one end for each run')
  assert.equal(count('turn.ended'), count('turn.started'), 'one finish for each turn')
  await checkReplay(bench, records)
}

async function checkReplay(bench: RuntimeBench, records: readonly LogRecord[]): Promise<void> {
  let replayed = emptyState('thread')
  const rows = new Map<string, unknown>()
  for (const record of records) {
    const reduced = reduce(replayed, record)
    replayed = reduced.state
    for (const message of reduced.written) rows.set(message.id, storedMessage(message))
  }
  const shown = storedHead(bench.runtime.state.head)
  assert.deepEqual(shown, storedHead(replayed.head), 'what is shown is what is on record')
  assert.deepEqual(JSON.parse(JSON.stringify(shown)), shown, 'what is shown is JSON')
  const { items } = await bench.store.listMessages(bench.runtime.state.head.lineage, { order: 'oldest' })
  assert.deepEqual(items, [...rows.values()], 'the messages are those on record')
  for (const message of items) {
    assert.deepEqual(message.parts.filter(isOpenCall), [], 'a call is left open')
  }
}

for (const continuity of ['log', 'native'] as const) {
  suite(`an agent ${continuity === 'log' ? 'in our process' : 'that is a program'} and`, () => {
    for (const [what, run] of Object.entries(RUDE)) {
      test(`${what}: its run has one end, and the thread goes on`, async () => {
        const polite = new ForeignAgent('polite', [says('Good day.')])
        await using bench = await RuntimeBench.open({
          rude: { driver: hostile(run, continuity) },
          polite: { driver: polite },
        })
        const rude = await bench.submit('Go.', { agentId: 'rude' })
        await rude.done
        await bench.runtime.idle()
        const next = await bench.submit('And you?', { agentId: 'polite' })
        assert.equal(await next.done, 'complete')
        await check(bench)
        await bench.restart()
        await check(bench)
      })
    }

    test('ends without a word: the run reports it', async () => {
      await using bench = await RuntimeBench.open({ rude: { driver: hostile(utters(step), continuity) } })
      assert.equal(await (await bench.submit('Go.', { agentId: 'rude' })).done, 'error')
      const { error } = bench.runtime.state.head.lastRun ?? {}
      assert.match(error?.message ?? '', /"rude" ended its turn without a finish/)
      assert.deepEqual(
        (await bench.bodies('error')).map((body) => body.error.message),
        [error?.message],
      )
      await check(bench)
    })

    for (const [what, end] of [
      ['fails to end', () => Promise.reject(new Error('Not yet.'))],
      ['never ends', () => new Promise<never>(() => undefined)],
    ] as const) {
      for (const how of ['cancel', 'close'] as const) {
        test(`${what} when it is stopped (${how}): nobody is kept waiting`, async (t) => {
          await using bench = await RuntimeBench.open({ rude: { driver: hostile(endsWith(end), continuity) } })
          const rude = await bench.submit('Go.', { agentId: 'rude' })
          await bench.until(() => bench.runtime.state.messages.length > 1)
          t.mock.timers.enable({ apis: ['setTimeout'] })
          const stopped = bench.runtime[how]()
          const patience = setInterval(() => t.mock.timers.tick(1000), 1)
          await stopped
          clearInterval(patience)
          t.mock.timers.reset()
          if (how === 'cancel') assert.equal(await rude.done, 'aborted')
          if (how === 'close') await bench.restart()
          await bench.runtime.idle()
          await check(bench)
        })
      }
    }

    test('throws when it is to be cancelled: the caller of cancel still learns how it ended', async () => {
      const cancel = (): never => {
        throw new Error('I will not.')
      }
      const run: Run = async function* (_turn, host) {
        yield step
        await new Promise((resolve) => host.signal.addEventListener('abort', resolve))
      }
      await using bench = await RuntimeBench.open({ rude: { driver: hostile(run, continuity, { cancel }) } })
      const rude = await bench.submit('Go.', { agentId: 'rude' })
      await bench.until(() => bench.runtime.state.head.run?.isStepOpen === true)
      await bench.runtime.cancel()
      assert.equal(await rude.done, 'aborted')
      await check(bench)
    })
  })
}

suite('a tool that', () => {
  const asks = (suspend: unknown): RunnableTool['execute'] => {
    return async (_input, { resume }) => (resume === undefined ? anything({ suspend }) : { result: 'answered' })
  }
  const TOOLS: { readonly [what: string]: RunnableTool['execute'] } = {
    'gives nothing': async () => anything(undefined),
    'gives what is no JSON': async () => ({ result: anything(1n) }),
    'gives itself': async () => ({ result: anything(circle) }),
    'throws what is no error': () => Promise.reject(anything(null)),
    'throws at once': () => {
      throw new Error('No.')
    },
    'asks what is no JSON': asks({ kind: 'question', description: 'Which?', payload: { n: 1n } }),
    'asks what is no question': asks({ kind: 'nothing', description: 5 }),
    'asks nothing': asks(undefined),
    'goes on when it is over': async (_input, { progress, warn }) => {
      setImmediate(() => {
        progress('late')
        warn?.('late')
      })
      return { result: 'done' }
    },
  }
  for (const [what, execute] of Object.entries(TOOLS)) {
    test(`${what}: the model learns of it, and the run continues`, async () => {
      const tool: RunnableTool = { name: 'look', inputSchema: { type: 'object' }, execute }
      const model = scriptedModel([
        { toolCalls: [{ id: 'c', name: 'look', input: {} }] },
        { text: 'Good.' },
        { text: 'Good day.' },
      ])
      await using bench = await RuntimeBench.open(
        { native: { driver: nativeDriver({ id: 'native', model }), tools: [tool] } },
        { decide: () => ({ policy: 'allow', reason: 'free' }), policy: anything(undefined) },
      )
      const run = await bench.submit('Go.', { agentId: 'native' })
      await bench.runtime.idle()
      for (const { id } of bench.runtime.state.head.waits) {
        await bench.runtime.answer(id, { decision: 'decline' })
        await bench.runtime.idle()
      }
      assert.equal(await run.done, 'complete')
      await nextTask()
      await check(bench)
      const next = await bench.submit('And now?', { agentId: 'native' })
      assert.equal(await next.done, 'complete')
    })
  }
})
