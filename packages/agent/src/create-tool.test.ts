import assert from 'node:assert/strict'
import { suite, test } from 'node:test'
import { inspect } from 'node:util'
import { InspanError, type Answer, type JsonObject } from '@inspan/protocol'
import type { ToolOutcome, ToolRunContext, ToolSuspension } from '@inspan/protocol/driver'
import { z } from 'zod'
import { createTool, type Tool } from './create-tool.ts'
import { runnableTool, runnableTools } from './runnable-tool.ts'
import { aToolRun } from './tool-run.fixture.ts'

interface Ran {
  readonly outcome: ToolOutcome | ToolSuspension
  readonly progress: readonly string[]
  readonly warnings: readonly string[]
}

/** Carries out a tool as the engine does. */
async function run(tool: Tool, input: { [key: string]: never } | object = {}, resume?: Answer): Promise<Ran> {
  const progress: string[] = []
  const warnings: string[] = []
  const context = aToolRun({
    requestContext: { user: 'Ann' },
    ...(resume === undefined ? {} : { resume }),
    progress: (output) => void progress.push(output),
    warn: (text) => void warnings.push(text),
  })
  return { outcome: await runnableTool(tool).execute(input as never, context), progress, warnings }
}

suite('a tool', () => {
  test('gets its input as its schema makes it, with defaults in place', async () => {
    const add = createTool({
      id: 'add',
      description: 'Adds.',
      inputSchema: z.object({ a: z.number(), b: z.number().default(10) }),
      execute: ({ a, b }) => a + b,
    })
    assert.deepEqual((await run(add, { a: 1 })).outcome, { result: 11 })
  })

  test('is not run with input that its schema refuses, and the error names what is wrong', async () => {
    let ran = 0
    const add = createTool({
      id: 'add',
      description: 'Adds.',
      inputSchema: z.object({ list: z.array(z.object({ n: z.number() })) }),
      execute: () => ++ran,
    })
    assert.match((await runnableTool(add).checkInput?.({ list: [{ n: 'x' }] })) ?? '', /^list\.0\.n: /)
    const { outcome } = await run(add, { list: [{ n: 'x' }] })
    assert.ok('result' in outcome && outcome.isError === true)
    assert.equal(ran, 0)
  })

  test('accepts a plain JSON Schema', async () => {
    const greet = createTool({
      id: 'greet',
      description: 'Greets.',
      inputSchema: { type: 'object', properties: { name: { type: 'string' } }, required: ['name'] },
      execute: ({ name }) => (name === 'Ann' ? 'Hi Ann' : 'Hi'),
    })
    assert.deepEqual((await run(greet, { name: 'Ann' })).outcome, { result: 'Hi Ann' })
    assert.equal(await runnableTool(greet).checkInput?.({}), 'missing name')
  })

  test('is refused with a clear error if its schema cannot be shown to a model', () => {
    const schema = { '~standard': { version: 1, vendor: 'mute', validate: (value: unknown) => ({ value }) } } as const
    const mute = createTool({ id: 'mute', description: 'Mute.', inputSchema: schema, execute: () => null })
    assert.throws(() => runnableTool(mute), /schema of tool "mute" cannot be written as JSON Schema/)
    const inputSchema = z.object({ due: z.date() })
    const remind = createTool({ id: 'remind', description: 'Reminds.', inputSchema, execute: () => null })
    assert.throws(
      () => runnableTool(remind),
      (error) =>
        InspanError.is(error, 'unsupported') &&
        /tool "remind" .*: Date cannot.*such as a date as a text/.test(error.message),
    )
  })

  test('returns a result that matches its output schema, or an error', async () => {
    const options = { id: 'age', description: 'Knows.', outputSchema: z.object({ age: z.number() }) }
    const good = createTool({ ...options, execute: () => ({ age: 7 }) })
    const bad = createTool({ ...options, execute: () => ({ age: 'seven' }) })
    assert.deepEqual((await run(good)).outcome, { result: { age: 7 } })
    const { outcome } = await run(bad)
    assert.ok('result' in outcome && outcome.isError === true)
    assert.match(JSON.stringify(outcome.result), /does not fit its schema: age/)
  })

  test('may return a value that is not JSON: it is converted, with a warning', async () => {
    const circle: { self?: unknown; big: bigint } = { big: 5n }
    circle.self = circle
    const odd = createTool({ id: 'odd', description: 'Odd.', execute: () => circle })
    const { outcome, warnings } = await run(odd)
    assert.deepEqual(outcome, { result: { big: '5', self: '[Circular]' } })
    assert.equal(warnings.length, 1)
    const nothing = createTool({ id: 'nothing', description: 'Nothing.', execute: () => undefined })
    assert.deepEqual((await run(nothing)).outcome, { result: null })
  })

  test('decides what the model sees, while the record keeps the whole result', async () => {
    const shot = createTool({
      id: 'shot',
      description: 'Looks.',
      execute: () => ({ png: 'aGk=', size: 2 }),
      toModelOutput: ({ png }) => ({
        type: 'content' as const,
        value: [
          { type: 'text' as const, text: 'Here.' },
          { type: 'file' as const, mediaType: 'image/png', data: png },
        ],
      }),
    })
    const { outcome } = await run(shot)
    assert.ok('result' in outcome)
    assert.deepEqual(outcome.result, { png: 'aGk=', size: 2 })
    assert.equal(outcome.modelOutput?.type, 'content')
    const brief = createTool({ id: 'brief', description: 'Brief.', execute: () => [1, 2], toModelOutput: () => 'two' })
    assert.deepEqual((await run(brief)).outcome, { result: [1, 2], modelOutput: { type: 'text', value: 'two' } })
  })

  test('keeps its result even if its toModelOutput fails', async () => {
    const shy = createTool({
      id: 'shy',
      description: 'Shy.',
      execute: () => 'done',
      toModelOutput: () => {
        throw new Error('no words')
      },
    })
    const { outcome, warnings } = await run(shy)
    assert.deepEqual(outcome, { result: 'done' })
    assert.match(warnings[0] ?? '', /no words/)
  })

  test('may be a generator: each yielded value is progress, and the last one is the result', async () => {
    const count = createTool({
      id: 'count',
      description: 'Counts.',
      outputSchema: z.object({ at: z.number() }),
      execute: async function* () {
        yield { at: 1 }
        yield { at: 2 }
      },
      toModelOutput: ({ at }) => `It is ${at}.`,
    })
    const { outcome, progress, warnings } = await run(count)
    assert.deepEqual(outcome, { result: { at: 2 }, modelOutput: { type: 'text', value: 'It is 2.' } })
    assert.deepEqual(progress, ['{"at":1}', '{"at":2}'])
    assert.deepEqual(warnings, [])
  })

  test('may be a generator that returns its result, or one that is synchronous', async () => {
    const returning = createTool({
      id: 'count',
      description: 'Counts.',
      execute: async function* () {
        yield 'one'
        return 'all'
      },
      toModelOutput: (result) => result.toUpperCase(),
    })
    const { outcome, progress } = await run(returning)
    assert.deepEqual(outcome, { result: 'all', modelOutput: { type: 'text', value: 'ALL' } })
    assert.deepEqual(progress, ['one'])
    const plain = createTool({
      id: 'count',
      description: 'Counts.',
      execute: function* () {
        yield 1
        yield 2
      },
    })
    assert.deepEqual((await run(plain)).outcome, { result: 2 })
  })

  test('may report progress that is not JSON', async () => {
    const circle: { self?: unknown } = {}
    circle.self = circle
    const showing = createTool({
      id: 'show',
      description: 'Shows.',
      execute: async function* (_input, { writer }) {
        await writer.write(circle)
        yield 7n
      },
    })
    const { outcome, progress } = await run(showing)
    assert.deepEqual(outcome, { result: '7' })
    assert.deepEqual(progress, ['{"self":"[Circular]"}', '"7"'])
  })

  for (const shown of [
    { type: 'json', value: 7n },
    { type: 'picture', value: 'x' },
    { type: 'content', value: 'x' },
    7,
  ]) {
    test(`keeps its result when its toModelOutput returns ${inspect(shown)}`, async () => {
      const odd = createTool({
        id: 'odd',
        description: 'Odd.',
        execute: () => 'done',
        toModelOutput: () => shown as unknown as string,
      })
      const { outcome, warnings } = await run(odd)
      assert.deepEqual(outcome, { result: 'done' })
      assert.match(warnings[0] ?? '', /could not say what to show/)
    })
  }

  test('may ask and fail as a generator, like any other tool', async () => {
    const ask = createTool({
      id: 'ask',
      description: 'Asks.',
      resumeSchema: z.string(),
      execute: async function* (_input, { resumeData, suspend }) {
        yield 'thinking'
        if (resumeData === undefined) await suspend({ question: 'Sure?' })
        if (resumeData === 'fail') throw new Error('broken')
        yield 'done'
      },
    })
    const { outcome } = await run(ask)
    assert.ok('suspend' in outcome)
    assert.deepEqual((await run(ask, {}, { decision: 'answer', value: 'yes' })).outcome, { result: 'done' })
    await assert.rejects(run(ask, {}, { decision: 'answer', value: 'fail' }), /broken/)
  })

  test('receives the ids of its call, run and thread, and can report progress', async () => {
    const curious = createTool({
      id: 'curious',
      description: 'Curious.',
      execute: async (_input, context) => {
        context.progress('half way')
        await context.writer.write({ done: 1 })
        const { agent, idempotencyKey, requestContext, threadId, toolCallId } = context
        return { agent: agent.agentId, idempotencyKey, user: requestContext.get('user'), threadId, toolCallId }
      },
    })
    const { outcome, progress } = await run(curious)
    assert.deepEqual(outcome, {
      result: { agent: 'agent', idempotencyKey: 'run:call', user: 'Ann', threadId: 'thread', toolCallId: 'call' },
    })
    assert.deepEqual(progress, ['half way', '{"done":1}'])
  })

  test('receives what a harness adds to its context', async () => {
    const door = createTool({
      id: 'door',
      description: 'Door.',
      execute: (_input, { requestContext }) => requestContext.get('harness'),
    })
    const tool = runnableTool(door, {
      decorate: (context) => {
        context.requestContext.set('harness', { id: 'h' })
        return context
      },
    })
    const outcome = await tool.execute({}, { ...({} as ToolRunContext), signal: new AbortController().signal })
    assert.deepEqual(outcome, { result: { id: 'h' } })
  })
})

suite('a question of a tool', () => {
  const ask = createTool({
    id: 'ask',
    description: 'Asks.',
    suspendSchema: z.object({ question: z.string() }),
    resumeSchema: z.object({ answer: z.string() }),
    execute: (_input, { resumeData, suspend }) =>
      resumeData === undefined ? suspend({ question: 'Why?' }, { kind: 'question' }) : `because ${resumeData.answer}`,
  })

  test('ends the attempt, and the answer starts the next one', async () => {
    const { outcome } = await run(ask)
    assert.ok('suspend' in outcome)
    assert.equal(outcome.suspend.kind, 'question')
    assert.deepEqual(outcome.suspend.payload, { question: 'Why?' })
    const answered = await run(ask, {}, { decision: 'answer', value: { answer: 'so' } })
    assert.deepEqual(answered.outcome, { result: 'because so' })
  })

  test('gives the model an error if the answer does not match its schema', async () => {
    const { outcome } = await run(ask, {}, { decision: 'answer', value: { answer: 5 } })
    assert.match(JSON.stringify(outcome), /answer does not fit: answer/)
  })

  test('is an error if it does not match its own schema', async () => {
    const wrong = createTool({
      id: 'wrong',
      description: 'Asks wrongly.',
      suspendSchema: z.object({ question: z.string() }),
      execute: (_input, { suspend }) => suspend({} as never),
    })
    assert.match(JSON.stringify((await run(wrong)).outcome), /asked something that does not fit/)
  })
})

suite('tools', () => {
  const one = createTool({ id: 'one', description: 'One.', execute: () => 1 })

  test('are named by their ids in a list, and by their keys in an object', () => {
    assert.deepEqual(
      runnableTools([one]).map(({ name }) => name),
      ['one'],
    )
    assert.deepEqual(
      runnableTools({ uno: one }).map(({ name }) => name),
      ['uno'],
    )
  })

  test('carry the category and annotations that rules refer to', () => {
    const tool = createTool({
      id: 'rm',
      description: 'Removes.',
      category: 'edit',
      idempotent: true,
      requireApproval: true,
      annotations: { destructiveHint: true },
      execute: () => null,
    })
    const { annotations, category, isIdempotent, requiresApproval } = runnableTool(tool)
    assert.deepEqual(
      { annotations, category, isIdempotent, requiresApproval },
      {
        annotations: { destructiveHint: true },
        category: 'edit',
        isIdempotent: true,
        requiresApproval: true,
      },
    )
  })
})

suite('the plain JSON Schema of a tool', () => {
  const define = (inputSchema: JsonObject): Tool =>
    createTool({ id: 'plain', description: 'Plain.', inputSchema, execute: () => 'done' })

  /** Returns the process warnings while the tool was created. */
  async function warnings(inputSchema: JsonObject): Promise<(Error & { code?: string })[]> {
    const heard: Error[] = []
    const listen = (warning: Error): void => void heard.push(warning)
    process.on('warning', listen)
    define(inputSchema)
    await new Promise((resolve) => setImmediate(resolve))
    process.off('warning', listen)
    return heard
  }

  test('causes a warning when the tool is created, if it has keywords that are not checked', async () => {
    const [warning, ...others] = await warnings({
      properties: { a: { format: 'colour' } },
      contentEncoding: 'base64',
    })
    assert.deepEqual(others, [])
    assert.equal(warning?.code, 'INSPAN_UNCHECKED_SCHEMA')
    assert.equal(
      warning.message,
      'The schema of tool "plain" says more than is checked: contentEncoding: "base64", format: "colour".',
    )
    assert.deepEqual(await warnings({ type: 'object', properties: { a: { $ref: '#/$defs/a' } }, $defs: { a: {} } }), [])
  })

  test('is refused if it has a reference to another file', () => {
    assert.throws(
      () => define({ properties: { a: { $ref: 'other.json' } } }),
      (error) =>
        InspanError.is(error, 'invalid-input') &&
        /tool "plain" cannot be checked: \$ref: "other\.json"/.test(error.message),
    )
  })

  test('is checked against the input, including its references and formats', async () => {
    const tool = runnableTool(
      define({ properties: { to: { $ref: '#/$defs/to' } }, $defs: { to: { format: 'email' } } }),
    )
    assert.equal(await tool.checkInput?.({ to: 'nobody' }), 'to: expected email')
    assert.equal(await tool.checkInput?.({ to: 'ann@example.com' }), undefined)
  })
})
