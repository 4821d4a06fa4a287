import assert from 'node:assert/strict'
import { suite, test, type TestContext } from 'node:test'
import { createTool, type LoopHooks, type SchemaInput } from '@inspan/agent'
import type { AgentDriver, RunnableTool } from '@inspan/protocol/driver'
import type { RunHandle } from '../turns/active-run.ts'
import { AgentBench, type AgentBenchOptions, type ModelScript } from '../agent-bench.fixture.ts'
import { ForeignAgent, says } from '../foreign-agent.fixture.ts'
import { RuntimeBench } from '../runtime-bench.fixture.ts'
import type { ThreadRuntime } from '../thread-runtime.ts'

/** Code that does not answer until it is released, and ignores its signal. */
class Deaf {
  readonly reached: PromiseWithResolvers<void> = Promise.withResolvers<void>()
  readonly #answers: (() => void)[] = []

  ignore<T>(late: T): Promise<T> {
    this.reached.resolve()
    return new Promise((resolve) => this.#answers.push(() => resolve(late)))
  }

  /** Answers, far too late. */
  answer(): void {
    for (const answer of this.#answers) answer()
  }
}

const CALL: ModelScript = [{ text: 'One.', toolCalls: [{ id: 'c1', name: 'echo', input: {} }] }, { text: '{}' }]
const MODEL = { specificationVersion: 'v4', provider: 'deaf', modelId: 'deaf', supportedUrls: {} } as const
const doGenerate = (): Promise<never> => Promise.reject(new Error('Nobody asks for this.'))

function echo(deaf: Deaf, more: Partial<RunnableTool> = {}): RunnableTool {
  return {
    name: 'echo',
    inputSchema: { type: 'object' },
    execute: () => deaf.ignore({ result: 'late' }),
    ...more,
  }
}

function slowSchema(deaf: Deaf): SchemaInput {
  return {
    '~standard': {
      version: 1,
      vendor: 'test',
      validate: () => deaf.ignore({ value: {} }),
      jsonSchema: { input: () => ({ type: 'object' }), output: () => ({ type: 'object' }) },
    },
  } as SchemaInput
}

function hook(name: keyof LoopHooks): (deaf: Deaf) => AgentBenchOptions {
  const tool = createTool({ id: 'echo', description: 'Echoes.', execute: () => 'done' })
  return (deaf) => ({ agent: { tools: [tool], hooks: { [name]: () => deaf.ignore(undefined) } } })
}

const PLACES: { readonly [name: string]: (deaf: Deaf) => AgentBenchOptions } = {
  'a model that gives no stream': (deaf) => ({
    agent: { model: { ...MODEL, doGenerate, doStream: () => deaf.ignore({ stream: new ReadableStream() }) } },
  }),
  'a model whose stream says nothing, and which cannot be stopped': (deaf) => ({
    agent: {
      model: {
        ...MODEL,
        doGenerate,
        doStream: async () => ({
          stream: new ReadableStream({ pull: () => deaf.ignore(undefined), cancel: () => deaf.ignore(undefined) }),
        }),
      },
    },
  }),
  'a function that chooses the model': (deaf) => ({ agent: { model: () => deaf.ignore('a/model') } }),
  'what makes a model of a name': (deaf) => ({
    agent: { model: 'a/model', resolveModel: () => deaf.ignore({ ...MODEL, doGenerate, doStream: doGenerate }) },
  }),
  'a function that gives the instructions': (deaf) => ({ agent: { instructions: () => deaf.ignore('Be kind.') } }),
  'a function that gives the tools': (deaf) => ({ agent: { tools: () => deaf.ignore([]) } }),
  'a condition to stop': (deaf) => ({
    agent: {
      tools: [createTool({ id: 'echo', description: 'Echoes.', execute: () => 'done' })],
      stopWhen: () => deaf.ignore(false),
    },
  }),
  'the check of an answer that is to be data': (deaf) => ({ agent: { output: { schema: slowSchema(deaf) } } }),
  'a tool': (deaf) => ({ agent: { tools: [echo(deaf)] } }),
  'a tool that is a generator': (deaf) => ({
    agent: {
      tools: [
        createTool({
          id: 'echo',
          description: 'Echoes.',
          execute: async function* () {
            yield 'first'
            yield await deaf.ignore('late')
          },
        }),
      ],
    },
  }),
  'the check of the input of a tool': (deaf) => ({
    agent: { tools: [echo(deaf, { checkInput: () => deaf.ignore(undefined) })] },
  }),
  'the preconditions of a call': (deaf) => ({
    agent: { tools: [echo(deaf, { preconditions: () => deaf.ignore({}) })] },
  }),
  'what the model is shown of a result': (deaf) => ({
    agent: {
      tools: [
        createTool({ id: 'echo', description: '.', execute: () => 'x', toModelOutput: () => deaf.ignore('late') }),
      ],
    },
  }),
  'a list of prices': (deaf) => ({ runtime: { priceOf: () => deaf.ignore(1) } }),
  'the hook beforeTurn': hook('beforeTurn'),
  'the hook beforeStep': hook('beforeStep'),
  'the hook beforeTool': hook('beforeTool'),
  'the hook afterTool': hook('afterTool'),
  'the hook afterStep': hook('afterStep'),
  'the hook afterTurn': hook('afterTurn'),
}

/** Cancels with a stopped clock: no time limit ever passes, so a cancel that needs one never ends. */
async function cancelAtOnce(t: TestContext, runtime: ThreadRuntime, run: RunHandle): Promise<void> {
  t.mock.timers.enable({ apis: ['setTimeout'] })
  await runtime.cancel()
  assert.equal(await run.done, 'aborted')
  t.mock.timers.reset()
}

suite('a run is cancelled at once, even if its agent ignores that', () => {
  for (const [name, options] of Object.entries(PLACES)) {
    test(`${name}: the turn has its one finish, and what comes late is dropped`, async (t) => {
      const deaf = new Deaf()
      await using bench = await AgentBench.open(CALL, options(deaf))
      const run = await bench.submit('Go.')
      await deaf.reached.promise
      await cancelAtOnce(t, bench.runtime, run)
      const left = await bench.records()
      assert.equal(left.filter(({ body }) => body.type === 'turn.ended').length, 1)
      assert.equal(left.filter(({ body }) => body.type === 'run.ended').length, 1)
      assert.equal((await bench.eventsOf('error')).length, 0)
      assert.deepEqual(
        (await bench.eventsOf('finish')).map(({ finishReason }) => finishReason),
        ['other'],
      )
      const ordered = (await bench.eventsOf('tool-call')).map(({ toolCallId }) => toolCallId)
      const answered = (await bench.eventsOf('tool-result')).map(({ toolCallId }) => toolCallId)
      assert.deepEqual(answered, ordered, 'no call is left without a result')
      deaf.answer()
      await new Promise((resolve) => setImmediate(resolve))
      await bench.runtime.idle()
      assert.deepEqual(await bench.records(), left)
      assert.deepEqual([...bench.runtime.state.head.waits.keys()], [])
    })
  }

  test('the stream of a model that begins to speak too late is released', async () => {
    const deaf = new Deaf()
    const letGo = Promise.withResolvers<void>()
    const stream = new ReadableStream({ cancel: () => letGo.resolve() })
    await using bench = await AgentBench.open([], {
      agent: { model: { ...MODEL, doGenerate, doStream: () => deaf.ignore({ stream }) } },
    })
    await bench.submit('Go.')
    await deaf.reached.promise
    await bench.runtime.cancel()
    deaf.answer()
    await letGo.promise
  })

  test('a generator that waits for its reader gives back what it holds', async () => {
    const closed = Promise.withResolvers<void>()
    const begun = Promise.withResolvers<void>()
    const ticking = createTool({
      id: 'echo',
      description: 'Ticks.',
      execute: async function* () {
        try {
          for (let i = 0; ; i++) {
            yield i
            begun.resolve()
            await new Promise((resolve) => setImmediate(resolve))
          }
        } finally {
          closed.resolve()
        }
      },
    })
    await using bench = await AgentBench.open(CALL, { agent: { tools: [ticking] } })
    const run = await bench.submit('Go.')
    await begun.promise
    await bench.runtime.cancel()
    assert.equal(await run.done, 'aborted')
    await closed.promise
  })

  test('cancels while tools and model of a turn are being made', async (t) => {
    const deaf = new Deaf()
    const driver = new ForeignAgent('native', [], { continuity: 'log' })
    await using bench = await RuntimeBench.open({ native: { driver, turn: () => deaf.ignore({}) } })
    const run = await bench.submit('Go.', { agentId: 'native' })
    await deaf.reached.promise
    await cancelAtOnce(t, bench.runtime, run)
    deaf.answer()
    await bench.runtime.idle()
    assert.equal(driver.opened, 0, 'it is not asked any more')
  })
})

suite('a program that does not listen', () => {
  test('is left behind while it starts, and begins nothing when it is there', async (t) => {
    const deaf = new Deaf()
    const agent = new ForeignAgent('cli', [])
    const opened = Promise.withResolvers<void>()
    const driver: AgentDriver = {
      port: 1,
      id: 'cli',
      describe: () => agent.describe(),
      open: async (binding, host) => {
        await deaf.ignore(undefined)
        const session = await agent.open(binding, host)
        return { ...session, close: () => session.close().finally(opened.resolve) }
      },
    }
    await using bench = await RuntimeBench.open({ cli: { driver } })
    const run = await bench.submit('Go.', { agentId: 'cli' })
    await deaf.reached.promise
    t.mock.timers.enable({ apis: ['setTimeout'] })
    const cancelled = bench.runtime.cancel()
    await new Promise((resolve) => setImmediate(resolve))
    t.mock.timers.tick(60_000)
    assert.equal((await cancelled).how, 'gone')
    assert.equal(await run.done, 'aborted')
    t.mock.timers.reset()
    deaf.answer()
    await opened.promise
    assert.deepEqual(agent.turns, [])
    assert.equal(agent.closed, 1)
  })

  test('is left behind when it does not end: closing the thread does not wait for it', async () => {
    const agent = new ForeignAgent('cli', [says('Done.')])
    const driver: AgentDriver = {
      port: 1,
      id: 'cli',
      describe: () => agent.describe(),
      open: async (binding, host) => ({
        ...(await agent.open(binding, host)),
        close: () => new Promise(() => undefined),
      }),
    }
    await using bench = await RuntimeBench.open({ cli: { driver } })
    assert.equal(await (await bench.submit('Go.', { agentId: 'cli' })).done, 'complete')
    await bench.runtime.close()
  })
})
