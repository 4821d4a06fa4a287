import assert from 'node:assert/strict'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { suite, test } from 'node:test'
import { Agent, createTool, type Tool } from '@inspan/agent'
import { InspanError, type JsonValue, type WaitKind } from '@inspan/protocol'
import type { Store } from '@inspan/protocol/store'
import { MemoryStore, SqliteStore } from '@inspan/stores'
import { scriptedModel } from '@inspan/testing'
import { z } from 'zod'
import { runtimeAgent } from '../turns/runtime-agent.ts'
import { RuntimeBench } from '../runtime-bench.fixture.ts'

interface Asked {
  readonly kind: Exclude<WaitKind, 'approval'>
  readonly schema: z.ZodType
  readonly answer: JsonValue
  /** A value that does not fit the question. */
  readonly wrong: JsonValue
}

const QUESTIONS: { readonly [name: string]: Asked } = {
  free_text: { kind: 'question', schema: z.string().min(1), answer: 'Ann', wrong: 5 },
  single_select: { kind: 'question', schema: z.enum(['red', 'blue']), answer: 'blue', wrong: 'green' },
  multi_select: {
    kind: 'question',
    schema: z.array(z.enum(['a', 'b', 'c'])).min(1),
    answer: ['a', 'c'],
    wrong: ['a', 'z'],
  },
  plan: { kind: 'plan', schema: z.object({ approved: z.boolean() }), answer: { approved: true }, wrong: 'fine' },
  access: { kind: 'access', schema: z.object({ path: z.string() }), answer: { path: '/data' }, wrong: {} },
  other: { kind: 'tool', schema: z.object({ ready: z.boolean() }), answer: { ready: true }, wrong: { ready: 'yes' } },
}

function asker(name: string, { kind, schema }: Asked, heard: Map<string, unknown>): Tool {
  return createTool({
    id: name,
    description: `Asks ${name}.`,
    resumeSchema: schema,
    execute: async (_input, { resumeData, suspend }) => {
      if (resumeData === undefined) return suspend({ question: name }, { kind, description: `${name}?` })
      heard.set(name, resumeData)
      return { heard: resumeData as JsonValue }
    },
  })
}

function agentThatAsks(heard: Map<string, unknown>): {
  agent: ReturnType<typeof runtimeAgent>
  model: ReturnType<typeof scriptedModel>
} {
  const names = Object.keys(QUESTIONS)
  const model = scriptedModel([{ toolCalls: names.map((name) => ({ id: `call-${name}`, name })) }, { text: 'Thanks.' }])
  const tools = Object.entries(QUESTIONS).map(([name, asked]) => asker(name, asked, heard))
  return { agent: runtimeAgent(new Agent({ id: 'native', model, tools })), model }
}

async function everyQuestion(store: Store): Promise<void> {
  const heard = new Map<string, unknown>()
  const { agent, model } = agentThatAsks(heard)
  await using bench = await RuntimeBench.open({ native: agent }, { store })
  await bench.runtime.configure({ yolo: true })
  const { runId } = await bench.submit('Ask away.', { agentId: 'native' })
  const asked = await bench.waits(Object.keys(QUESTIONS).length)
  // Another process has all waits, and answers them in reverse order.
  await bench.restart()
  const waits = [...bench.runtime.state.head.waits]
  assert.deepEqual(waits.map(({ id }) => id).sort(), asked.map(({ id }) => id).sort())
  for (const [name, { answer, kind, wrong }] of Object.entries(QUESTIONS).reverse()) {
    const wait = waits.find(({ subject }) => subject.toolName === name) ?? assert.fail(name)
    assert.equal(wait.kind, kind)
    assert.equal(wait.description, `${name}?`)
    assert.deepEqual(wait.payload, { question: name })
    assert.equal(wait.subject.toolCallId, `call-${name}`)
    const misfit = bench.runtime.answer(wait.id, { decision: 'answer', value: wrong })
    await assert.rejects(misfit, (error) => InspanError.is(error, 'invalid-input'), `${name} takes no such answer`)
    await bench.runtime.answer(wait.id, { decision: 'answer', value: answer }, name)
    const again = bench.runtime.answer(wait.id, { decision: 'answer', value: answer })
    await assert.rejects(again, (error) => InspanError.is(error, 'conflict') && error.message.includes(name))
  }
  await bench.runtime.idle()
  assert.equal(bench.runtime.state.head.lastRun?.runId, runId)
  assert.equal(bench.runtime.state.head.lastRun?.outcome, 'complete')
  assert.deepEqual(
    Object.fromEntries(heard),
    Object.fromEntries(Object.entries(QUESTIONS).map(([name, { answer }]) => [name, answer])),
  )
  assert.equal(model.calls, 2, 'the model is asked again when all are answered')
  assert.match(model.requestBodies[1] ?? '', /"heard":\["a","c"\]/)
  assert.equal((await bench.bodies('turn.ended')).length, 1)
}

suite('questions of every kind, asked side by side', () => {
  test('are stored, and answered by their ids in another process, each once and as it was asked (memory)', () =>
    everyQuestion(new MemoryStore()))

  test('are stored, and answered by their ids in another process, each once and as it was asked (SQLite)', async () => {
    const folder = await mkdtemp(join(tmpdir(), 'inspan-questions-'))
    const store = new SqliteStore({ url: join(folder, 'data.db') })
    try {
      await everyQuestion(store)
    } finally {
      await store.close()
      await rm(folder, { recursive: true, maxRetries: 5 })
    }
  })
})
