import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { suite, test } from 'node:test'
import { promisify } from 'node:util'
import { createTool } from '@inspan/agent'
import { InspanError } from '@inspan/protocol'
import { BasicTracerProvider, InMemorySpanExporter, SimpleSpanProcessor } from '@opentelemetry/sdk-trace-base'
import { HarnessBench } from '../harness.fixture.ts'
import type { RunFeedback, RunScore } from './observability.ts'
import type { ScoredRun } from './run-scorers.ts'

const look = createTool({ id: 'look', description: 'Looks.', category: 'read', execute: () => 'seen' })
const SCRIPT = [{ toolCalls: [{ id: 'c1', name: 'look' }] }, { text: 'Done.' }]
const looking = { tools: { look }, permissions: { categories: { read: 'allow' } } } as const

suite('observability', () => {
  test('a tracer provider gets the spans of this harness’s runs, and of no other’s', async () => {
    const exporter = new InMemorySpanExporter()
    const observability = new BasicTracerProvider({ spanProcessors: [new SimpleSpanProcessor(exporter)] })
    await using traced = new HarnessBench(SCRIPT, { ...looking, observability })
    await using other = new HarnessBench(SCRIPT, looking)
    await other.harness.sendMessage({ content: 'Go.' })
    assert.deepEqual(exporter.getFinishedSpans(), [])
    await traced.harness.sendMessage({ content: 'Go.' })
    const spans = exporter.getFinishedSpans()
    assert.deepEqual(
      spans.map(({ name }) => name).sort((a, b) => a.localeCompare(b)),
      ['chat scripted-model', 'chat scripted-model', 'execute_tool look', 'invoke_agent agent'],
    )
    const agent = spans.find(({ name }) => name === 'invoke_agent agent')
    const threadId = traced.harness.session.thread.requireId()
    for (const span of spans) {
      assert.equal(span.attributes['gen_ai.conversation.id'], threadId)
      if (span !== agent) assert.equal(span.parentSpanContext?.spanId, agent?.spanContext().spanId)
    }
    assert.equal(traced.harness.session.run.getTraceId(), agent?.spanContext().traceId)
    assert.equal(other.harness.session.run.getTraceId(), null)
    assert.equal(traced.harness.getRuntime()?.observability, observability)
    await observability.shutdown()
  })

  test('scores and feedback are recorded with the run, and reported', async () => {
    const scores: RunScore[] = []
    const feedback: RunFeedback[] = []
    const observability = {
      onScore: (score: RunScore): void => void scores.push(score),
      onFeedback: (said: RunFeedback): void => void feedback.push(said),
    }
    await using bench = new HarnessBench([{ text: 'One.' }, { text: 'Two.' }], { observability })
    const { session } = bench.harness
    await assert.rejects(session.run.addScore({ name: 'tone', value: 1, source: 'me' }), /No thread is selected/)
    const begun = bench.next('agent_start')
    const sent = bench.harness.sendMessage({ content: 'Hi' })
    await begun
    const runId = session.getCurrentRunId() ?? ''
    await sent
    await session.run.addFeedback({ rating: 5, text: 'Well said.', source: 'ada' })
    await bench.harness.sendMessage({ content: 'Again' })
    await session.run.addScore({ runId, name: 'tone', value: 0.5, source: 'me' })
    const threadId = session.thread.requireId()
    assert.deepEqual(scores, [{ threadId, runId, name: 'tone', value: 0.5, source: 'me' }])
    assert.deepEqual(feedback, [{ threadId, runId, rating: 5, text: 'Well said.', source: 'ada' }])
    assert.deepEqual(await session.run.opinions({ runId }), {
      scores: [{ name: 'tone', value: 0.5, source: 'me' }],
      feedback: [{ rating: 5, text: 'Well said.', source: 'ada' }],
    })
    assert.deepEqual(await session.run.opinions(), { scores: [], feedback: [] })
    await assert.rejects(session.run.opinions({ runId: 'nobody' }), (error) => InspanError.is(error, 'not-found'))
  })

  test('a scorer judges every completed run, and one that fails is reported and harms nobody', async () => {
    const told = Promise.withResolvers<RunScore>()
    const judged: ScoredRun[] = []
    await using bench = new HarnessBench([{ text: 'One.' }, { text: 'Two, and more.' }, { error: { status: 400 } }], {
      observability: { onScore: (score) => (score.value > 4 ? told.resolve(score) : undefined) },
    })
    await bench.harness.sendMessage({ content: 'Before there were scorers.' })
    const runtime = bench.harness.getRuntime()
    runtime?.addScorer('broken', () => {
      throw new Error('no verdict')
    })
    runtime?.addScorer('length', {
      score: (run) => {
        judged.push(run)
        return { value: JSON.stringify(run.messages.at(-1)?.content).length, reason: 'counted' }
      },
    })
    const failed = bench.next('error')
    await bench.harness.sendMessage({ content: 'Go.' })
    assert.deepEqual([(await failed).errorType, (await failed).error.message], ['scorer:broken', 'no verdict'])
    const { name, reason, runId, source } = await told.promise
    assert.deepEqual({ name, reason, source }, { name: 'length', reason: 'counted', source: 'length' })
    assert.equal(judged[0]?.runId, runId)
    assert.deepEqual(
      judged[0]?.messages.map(({ content, role }) => [role, content]),
      [
        ['user', [{ type: 'text', text: 'Go.' }]],
        ['assistant', [{ type: 'text', text: 'Two, and more.' }]],
      ],
    )
    assert.equal((await bench.harness.session.run.opinions({ runId })).scores.length, 1)
    await bench.harness.sendMessage({ content: 'Fail.' })
    runtime?.removeScorer('length')
    assert.deepEqual([...(runtime?.scorers.keys() ?? [])], ['broken'])
    assert.equal(judged.length, 1, 'what failed is not judged')
  })

  test('observability that fails is reported, and the run is not affected', async () => {
    await using bench = new HarnessBench([{ text: 'One.' }], {
      observability: { onFeedback: () => Promise.reject(new Error('nobody there')) },
    })
    await bench.harness.sendMessage({ content: 'Hi' })
    const failed = bench.next('error')
    await bench.harness.session.run.addFeedback({ rating: 1, source: 'ada' })
    assert.deepEqual([(await failed).errorType, (await failed).error.message], ['observability', 'nobody there'])
  })

  test('observability without any usable part is refused', () => {
    const wrong = { traces: true } as object
    assert.throws(
      () => new HarnessBench([], { observability: wrong }),
      (error) => InspanError.is(error, 'invalid-input') && /neither spans nor scores/.test(error.message),
    )
  })

  test('observability that takes spans reports at the start when none can be made', { timeout: 120_000 }, async () => {
    const program = `
      import { registerHooks } from 'node:module'
      registerHooks({
        resolve(name, context, next) {
          if (name === '@opentelemetry/api') throw new Error('It is not installed.')
          return next(name, context)
        },
      })
      const { Agent, Harness } = await import(${JSON.stringify(new URL('../../index.ts', import.meta.url).href)})
      const agent = new Agent({ id: 'agent', model: 'x/y' })
      const observability = { getTracer: () => ({}) }
      const harness = new Harness({ id: 'h', agent, modes: [{ id: 'm' }], observability })
      await harness.init().catch(({ code, message }) => process.stdout.write(JSON.stringify([code, message])))`
    const { stdout } = await promisify(execFile)(process.execPath, ['--input-type=module', '-e', program])
    const [code, message] = JSON.parse(stdout) as string[]
    assert.equal(code, 'unsupported')
    assert.match(message ?? '', /@opentelemetry\/api is not installed/)
  })
})
