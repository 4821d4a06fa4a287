import assert from 'node:assert/strict'
import { AsyncLocalStorage } from 'node:async_hooks'
import { execFile } from 'node:child_process'
import { after, before, beforeEach, suite, test } from 'node:test'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { createTool } from '@inspan/agent'
import { ForeignAgent } from '../foreign-agent.fixture.ts'
import {
  context,
  ROOT_CONTEXT,
  SpanKind,
  SpanStatusCode,
  trace,
  type Context,
  type ContextManager,
} from '@opentelemetry/api'
import {
  BasicTracerProvider,
  InMemorySpanExporter,
  SimpleSpanProcessor,
  type ReadableSpan,
} from '@opentelemetry/sdk-trace-base'
import * as conventions from '@opentelemetry/semantic-conventions/incubating'
import { AgentBench } from '../agent-bench.fixture.ts'
import { openTelemetry } from './open-telemetry.ts'

const CHILD = fileURLToPath(new URL('telemetry-child.fixture.ts', import.meta.url))

/** What an SDK registers so that spans find their parents across awaits. */
class AsyncContexts implements ContextManager {
  readonly #storage = new AsyncLocalStorage<Context>()

  active(): Context {
    return this.#storage.getStore() ?? ROOT_CONTEXT
  }

  with<Args extends unknown[], Work extends (...args: Args) => ReturnType<Work>>(
    active: Context,
    work: Work,
    thisArg?: ThisParameterType<Work>,
    ...args: Args
  ): ReturnType<Work> {
    return this.#storage.run(active, () => work.apply(thisArg, args))
  }

  bind<T>(_context: Context, target: T): T {
    return target
  }

  enable(): this {
    return this
  }

  disable(): this {
    this.#storage.disable()
    return this
  }
}

suite('without an SDK', () => {
  test('nothing is traced, and the API is not even loaded', async () => {
    assert.equal(await openTelemetry(), undefined)
  })

  for (const [what, args, isLookedFor] of [
    ['nobody registered anything: the package is not looked for', [], false],
    ['the package is not there: runs go on without it', ['registered'], true],
  ] as const) {
    test(what, { timeout: 60_000 }, async () => {
      const { stdout } = await promisify(execFile)(process.execPath, [CHILD, ...args])
      assert.deepEqual(JSON.parse(stdout), { outcome: 'complete', isLookedFor })
    })
  }
})

suite('with an SDK', () => {
  const exporter = new InMemorySpanExporter()
  const provider = new BasicTracerProvider({ spanProcessors: [new SimpleSpanProcessor(exporter)] })

  before(() => {
    trace.setGlobalTracerProvider(provider)
    context.setGlobalContextManager(new AsyncContexts())
  })
  beforeEach(() => exporter.reset())
  after(async () => {
    trace.disable()
    context.disable()
    await provider.shutdown()
  })

  const spans = (): ReadableSpan[] => exporter.getFinishedSpans()
  const named = (name: string): ReadableSpan => {
    const span = spans().find((each) => each.name === name)
    assert.ok(
      span,
      `there is a span ${name} among ${spans()
        .map((each) => each.name)
        .join(', ')}`,
    )
    return span
  }

  test('a turn is a span of its agent, with its steps and tools below it', async () => {
    const look = createTool({
      id: 'look',
      description: 'Looks.',
      execute: () => {
        trace.getTracer('tool').startSpan('inside').end()
        return 'seen'
      },
    })
    await using bench = await AgentBench.open(
      [
        {
          toolCalls: [{ id: 'c1', name: 'look' }],
          usage: { inputTokens: 100, cachedInputTokens: 60, outputTokens: 7 },
        },
        { text: 'Done.', usage: { inputTokens: 120, outputTokens: 3 } },
      ],
      { agent: { tools: [look] }, model: { provider: 'anthropic.messages', modelId: 'claude' } },
    )
    const caller = trace.getTracer('test').startSpan('caller')
    await context.with(trace.setSpan(context.active(), caller), () => bench.play())
    caller.end()
    assert.deepEqual(
      spans()
        .map(({ name }) => name)
        .sort((a, b) => a.localeCompare(b)),
      ['caller', 'chat claude', 'chat claude', 'execute_tool look', 'inside', 'invoke_agent native'],
    )
    const agent = named('invoke_agent native')
    assert.equal(agent.parentSpanContext?.spanId, caller.spanContext().spanId)
    assert.equal(agent.attributes['gen_ai.operation.name'], 'invoke_agent')
    assert.equal(agent.attributes['gen_ai.agent.id'], 'native')
    assert.equal(agent.attributes['gen_ai.usage.input_tokens'], 220)
    assert.equal(agent.attributes['gen_ai.usage.output_tokens'], 10)
    assert.equal(agent.attributes['inspan.run.id'], bench.runtime.state.head.lastRun?.runId)
    const chat = named('chat claude')
    assert.equal(chat.kind, SpanKind.CLIENT)
    assert.equal(chat.parentSpanContext?.spanId, agent.spanContext().spanId)
    assert.deepEqual(
      [
        chat.attributes['gen_ai.provider.name'],
        chat.attributes['gen_ai.request.model'],
        chat.attributes['gen_ai.usage.input_tokens'],
        chat.attributes['gen_ai.usage.cache_read.input_tokens'],
        chat.attributes['gen_ai.usage.output_tokens'],
        chat.attributes['gen_ai.response.finish_reasons'],
      ],
      ['anthropic', 'claude', 100, 60, 7, ['tool-calls']],
    )
    const tool = named('execute_tool look')
    assert.equal(tool.parentSpanContext?.spanId, agent.spanContext().spanId)
    assert.equal(tool.attributes['gen_ai.tool.call.id'], 'c1')
    assert.equal(named('inside').parentSpanContext?.spanId, tool.spanContext().spanId)
    for (const span of spans().filter(({ name }) => name !== 'caller' && name !== 'inside')) {
      assert.equal(span.attributes['gen_ai.conversation.id'], 'thread')
      assert.notEqual(span.status.code, SpanStatusCode.ERROR)
    }
  })

  test('goes by the names of the conventions', async () => {
    const usage = { inputTokens: 10, outputTokens: 9, reasoningTokens: 6, cacheWriteInputTokens: 4 }
    await using bench = await AgentBench.open([{ text: 'Hi.', usage }], {
      agent: { name: 'Ann' },
      model: { provider: 'amazon-bedrock', modelId: 'claude' },
    })
    await bench.play()
    const model = { 'gen_ai.provider.name': 'aws.bedrock', 'gen_ai.request.model': 'claude' }
    const used = {
      'gen_ai.usage.input_tokens': 10,
      'gen_ai.usage.cache_creation.input_tokens': 4,
      'gen_ai.usage.output_tokens': 9,
      'gen_ai.usage.reasoning.output_tokens': 6,
      'gen_ai.response.finish_reasons': ['stop'],
      'gen_ai.conversation.id': 'thread',
    }
    assert.deepEqual(named('chat claude').attributes, {
      'gen_ai.operation.name': 'chat',
      'gen_ai.request.stream': true,
      ...model,
      ...used,
    })
    const { 'inspan.run.id': _run, 'inspan.turn.id': _turn, ...agent } = { ...named('invoke_agent Ann').attributes }
    assert.deepEqual(agent, {
      'gen_ai.operation.name': 'invoke_agent',
      'gen_ai.agent.id': 'native',
      'gen_ai.agent.name': 'Ann',
      ...model,
      ...used,
    })
    assert.equal(named('invoke_agent Ann').kind, SpanKind.INTERNAL)
  })

  test('an attempt that was cut off is a failed span of its own, with what it failed of', async () => {
    await using bench = await AgentBench.open([{ text: ['Ha', 'lf'], cut: 'end' }, { text: 'Whole.' }])
    assert.equal(await bench.play(), 'complete')
    const [cut, whole] = spans().filter(({ name }) => name === 'chat scripted-model')
    assert.equal(cut?.attributes['error.type'], 'StreamCut')
    assert.equal(cut?.status.code, SpanStatusCode.ERROR)
    assert.equal(whole?.attributes['error.type'], undefined)
    assert.notEqual(named('invoke_agent native').status.code, SpanStatusCode.ERROR)
  })

  test('failures are seen where they happened', async () => {
    const broken = createTool({
      id: 'broken',
      description: 'Throws.',
      execute: () => {
        throw new TypeError('no such thing')
      },
    })
    const script = [{ toolCalls: [{ name: 'broken' }] }, { error: { status: 400, message: 'bad request' } }]
    await using bench = await AgentBench.open(script, { agent: { tools: [broken] } })
    assert.equal(await bench.play(), 'error')
    const tool = named('execute_tool broken')
    assert.equal(tool.status.code, SpanStatusCode.ERROR)
    assert.equal(tool.attributes['error.type'], 'TypeError')
    const agent = named('invoke_agent native')
    assert.equal(agent.status.code, SpanStatusCode.ERROR)
    assert.equal(agent.status.message, 'bad request')
  })

  test('redacted values are not in spans', async () => {
    const broken = createTool({
      id: 'broken',
      description: 'Throws.',
      execute: () => {
        throw new TypeError('no access with sk-1')
      },
    })
    const redact = (text: string): string => text.replace(/sk-\w+/g, '[key]')
    const script = [{ toolCalls: [{ name: 'broken' }] }, { error: { status: 400, message: 'bad key sk-2' } }]
    await using bench = await AgentBench.open(script, { agent: { tools: [broken] }, runtime: { redact } })
    assert.equal(await bench.play(), 'error')
    assert.equal(named('execute_tool broken').status.message, 'no access with [key]')
    assert.equal(named('invoke_agent native').status.message, 'bad key [key]')
  })

  const foreign = new ForeignAgent('foreign', [
    async function* () {
      yield { type: 'step-start', stepIndex: 0 }
      yield { type: 'tool-call', toolCallId: 't', toolName: 'Bash', args: {} }
      yield { type: 'tool-result', toolCallId: 't', toolName: 'Bash', result: 'no', isError: true }
      yield { type: 'step-finish', stepIndex: 0, finishReason: 'stop', usage: { inputTokens: 3, outputTokens: 1 } }
    },
  ])

  test('a foreign agent is traced by what it reports', async () => {
    await using bench = await AgentBench.open([], { runtime: { agents: { foreign: { driver: foreign } } } })
    await bench.play('Go.', { agentId: 'foreign' })
    assert.equal(named('execute_tool Bash').status.code, SpanStatusCode.ERROR)
    assert.equal(named('chat').attributes['gen_ai.usage.input_tokens'], 3)
    assert.equal(
      named('execute_tool Bash').parentSpanContext?.spanId,
      named('invoke_agent foreign').spanContext().spanId,
    )
    // The conventions require a provider for every agent and model; here only the program is known.
    for (const span of [named('invoke_agent foreign'), named('chat')]) {
      assert.equal(span.attributes['gen_ai.provider.name'], 'foreign')
      assert.equal(span.attributes['gen_ai.request.model'], undefined)
    }
  })

  for (const [model, provider, asked] of [
    ['mistral/large', 'mistral_ai', 'large'],
    ['sonnet', 'foreign', 'sonnet'],
  ] as const) {
    test(`a foreign agent that does not say what it asks is known by the model it was given: ${model}`, async () => {
      await using bench = await AgentBench.open([], {
        runtime: { agents: { foreign: { driver: foreign, turn: { model } } } },
      })
      await bench.play('Go.', { agentId: 'foreign' })
      for (const span of [named('invoke_agent foreign'), named(`chat ${asked}`)]) {
        assert.equal(span.attributes['gen_ai.provider.name'], provider)
        assert.equal(span.attributes['gen_ai.request.model'], asked)
      }
    })
  }

  test('every attribute is a constant of the conventions, or named after us, for our own loop and for other agents', async () => {
    const look = createTool({ id: 'look', description: 'Looks.', execute: () => Promise.reject(new Error('blind')) })
    const usage = { inputTokens: 9, cachedInputTokens: 4, outputTokens: 7, reasoningTokens: 2 }
    await using own = await AgentBench.open(
      [{ toolCalls: [{ name: 'look' }], usage }, { text: 'Done.', usage }, { error: { status: 400 } }],
      { agent: { tools: [look] }, model: { provider: 'anthropic.messages', modelId: 'claude' } },
    )
    await own.play('Go.')
    await own.play('Fail.')
    await using other = await AgentBench.open([], {
      runtime: { agents: { foreign: { driver: foreign, turn: { model: 'mistral/large' } } } },
    })
    await other.play('Go.', { agentId: 'foreign' })
    const valuesOf = (prefix: string): ReadonlySet<string> =>
      new Set(Object.entries(conventions).flatMap(([name, value]) => (name.startsWith(prefix) ? [String(value)] : [])))
    const [attributes, operations] = [valuesOf('ATTR_'), valuesOf('GEN_AI_OPERATION_')]
    const used = spans().flatMap((span) => Object.keys(span.attributes))
    assert.ok(used.includes('error.type'))
    for (const name of used) assert.ok(name.startsWith('inspan.') || attributes.has(name), name)
    for (const span of spans()) assert.ok(operations.has(String(span.attributes['gen_ai.operation.name'])))
    assert.equal(spans().filter(({ name }) => name.endsWith('foreign')).length, 1)
  })

  test('every span ends, also of what was cancelled', async () => {
    const started = Promise.withResolvers<void>()
    const hang = createTool({
      id: 'hang',
      description: 'Hangs.',
      execute: () => {
        started.resolve()
        return new Promise(() => undefined)
      },
    })
    await using bench = await AgentBench.open([{ toolCalls: [{ name: 'hang' }] }], { agent: { tools: [hang] } })
    const run = await bench.submit('Go.')
    await started.promise
    await bench.runtime.cancel()
    await run.done
    assert.deepEqual(
      new Set(spans().map(({ name }) => name)),
      new Set(['chat scripted-model', 'execute_tool hang', 'invoke_agent native']),
    )
  })
})
