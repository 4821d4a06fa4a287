import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { mkdtemp, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { suite, test } from 'node:test'
import { fileURLToPath } from 'node:url'
import { createTool, nativeDriver, runnableTool, type Tool } from '@inspan/agent'
import { InspanError, type ToolResultPart, type Wait } from '@inspan/protocol'
import type { Decision } from '@inspan/protocol/driver'
import { agentEventsOf, type LogRecord } from '@inspan/protocol/log'
import { MemoryStore, SqliteStore } from '@inspan/stores'
import { scriptedModel } from '@inspan/testing'
import { z } from 'zod'
import { recordsAfter } from '../log/load-state.ts'
import { ProcessOwner } from '../threads/ownership.ts'
import { ThreadRuntime } from '../thread-runtime.ts'
import { createThread } from '../threads/threads.ts'

const CHILD = fileURLToPath(new URL('suspension-child.fixture.ts', import.meta.url))

interface Opened extends AsyncDisposable {
  readonly runtime: ThreadRuntime
  /** Resolves with the next open wait. */
  wait(): Promise<Wait>
  result(toolCallId: string): Promise<ToolResultPart | undefined>
  records(): Promise<LogRecord[]>
}

type Script = Parameters<typeof scriptedModel>[0]

async function open(script: Script, tools: readonly Tool[], decide?: () => Decision): Promise<Opened> {
  const store = new MemoryStore()
  await createThread(store, { id: 'thread', resourceId: 'test' })
  const owner = await ProcessOwner.register(store)
  const driver = nativeDriver({ id: 'native', model: scriptedModel(script) })
  const runtime = await ThreadRuntime.open({
    store,
    owner,
    thread: 'thread',
    agents: { native: { driver, tools: tools.map((tool) => runnableTool(tool)) } },
    ...(decide === undefined ? {} : { decide }),
  })
  return {
    runtime,
    async wait() {
      for (;;) {
        const [wait] = [...runtime.state.head.waits]
        if (wait !== undefined) return wait
        await new Promise((resolve) => setImmediate(resolve))
      }
    },
    async result(toolCallId) {
      const { items } = await store.listMessages(runtime.state.head.lineage, { order: 'oldest' })
      return items
        .flatMap((message) => message.parts)
        .find((part): part is ToolResultPart => part.type === 'tool-result' && part.toolCallId === toolCallId)
    },
    records: () => Array.fromAsync(recordsAfter(store, 'thread', 0)),
    async [Symbol.asyncDispose]() {
      await runtime.close()
      await owner.close()
      await store.close()
    },
  }
}

const INPUT = { agentId: 'native', parts: [{ id: '0', type: 'text', text: 'Go.' }] } as const
const CALL: Script = [{ toolCalls: [{ id: 'c1', name: 'choose', input: {} }] }, { text: 'Done.' }]

/** A tool that asks for a colour and then paints. */
function painter(journal: string[]): Tool {
  return createTool({
    id: 'choose',
    description: 'Paints.',
    resumeSchema: z.object({ colour: z.string() }),
    execute: async (_input, { resumeData, agent }) => {
      journal.push(resumeData === undefined ? 'asked' : `painted ${resumeData.colour}`)
      if (resumeData === undefined) return agent.suspend({ options: ['red', 'blue'] }, { description: 'Which colour?' })
      return { painted: resumeData.colour }
    },
  })
}

suite('a tool that asks', () => {
  test('is carried out again with the answer, under the same call', async () => {
    const journal: string[] = []
    await using thread = await open(CALL, [painter(journal)])
    const run = await thread.runtime.submit(INPUT)
    const wait = await thread.wait()
    assert.equal(wait.kind, 'tool')
    assert.equal(wait.description, 'Which colour?')
    assert.deepEqual(wait.payload, { options: ['red', 'blue'] })
    assert.deepEqual(wait.subject, { agentId: 'native', toolCallId: 'c1', toolName: 'choose', args: {} })
    assert.deepEqual(JSON.parse(wait.answerSchema ?? ''), {
      $schema: 'http://json-schema.org/draft-07/schema#',
      type: 'object',
      properties: { colour: { type: 'string' } },
      required: ['colour'],
    })
    assert.equal(thread.runtime.state.head.run?.status, 'parked')
    await thread.runtime.answer(wait.id, { decision: 'answer', value: { colour: 'blue' } })
    assert.equal(await run.done, 'complete')
    assert.deepEqual(journal, ['asked', 'painted blue'])
    assert.deepEqual((await thread.result('c1'))?.result, { painted: 'blue' })
    const attempts = (await thread.records()).flatMap(({ body }) =>
      body.type === 'call.started' ? [[body.attempt, body.idempotencyKey]] : [],
    )
    assert.deepEqual(attempts, [
      [1, `${run.runId}:c1`],
      [2, `${run.runId}:c1`],
    ])
  })

  test('refuses an answer without what it asked for, and one to be remembered: neither counts', async () => {
    const journal: string[] = []
    await using thread = await open(CALL, [painter(journal)])
    const run = await thread.runtime.submit(INPUT)
    const wait = await thread.wait()
    for (const wrong of [
      { decision: 'approve' },
      { decision: 'answer' },
      { decision: 'approve', value: { colour: 'blue' }, remember: 'tool' },
      { decision: 'answer', value: { colour: 'blue' }, remember: 'category' },
    ] as const) {
      await assert.rejects(thread.runtime.answer(wait.id, wrong), (error) => InspanError.is(error, 'invalid-input'))
    }
    assert.deepEqual([...thread.runtime.state.head.waits.keys()], [wait.id], 'it still waits')
    await thread.runtime.answer(wait.id, { decision: 'approve', value: { colour: 'blue' } })
    assert.equal(await run.done, 'complete')
    assert.deepEqual(journal, ['asked', 'painted blue'])
    assert.deepEqual(thread.runtime.state.head.grants, { tools: [], categories: [] })
  })

  test('a tool that asks one thing after the other learns which one was answered, and what it knew then', async () => {
    const trip = createTool({
      id: 'trip',
      description: 'Books a trip.',
      suspendSchema: z.object({ ask: z.enum(['where', 'when']), where: z.string().optional() }),
      resumeSchema: z.object({ said: z.string() }),
      execute: async (_input, { resumeData, suspend, suspendData }) => {
        if (resumeData === undefined || suspendData === undefined) return suspend({ ask: 'where' })
        if (suspendData.ask === 'where') return suspend({ ask: 'when', where: resumeData.said })
        return `${suspendData.where} ${resumeData.said}`
      },
    })
    await using opened = await open([{ toolCalls: [{ id: 'c', name: 'trip' }] }, { text: 'Done.' }], [trip])
    const run = await opened.runtime.submit({ agentId: 'native', parts: [{ id: '0', type: 'text', text: 'Go.' }] })
    for (const said of ['Rome', 'today']) {
      const { id } = await opened.wait()
      await opened.runtime.answer(id, { decision: 'answer', value: { said } })
    }
    assert.equal(await run.done, 'complete')
    assert.equal((await opened.result('c'))?.result, 'Rome today')
  })

  test('gets its own question back also when somebody had to approve the call again first', async () => {
    const seen: unknown[] = []
    const trip = createTool({
      id: 'trip',
      description: 'Books a trip.',
      execute: async (_input, { resumeData, suspend, suspendData }) => {
        if (resumeData === undefined) return suspend({ ask: 'where' })
        seen.push(suspendData)
        return 'booked'
      },
    })
    let policy: Decision['policy'] = 'allow'
    const decide = (): Decision => ({ policy, reason: 'today' })
    await using opened = await open([{ toolCalls: [{ id: 'c', name: 'trip' }] }, { text: 'Done.' }], [trip], decide)
    const run = await opened.runtime.submit({ agentId: 'native', parts: [{ id: '0', type: 'text', text: 'Go.' }] })
    const question = await opened.wait()
    policy = 'ask'
    await opened.runtime.answer(question.id, { decision: 'answer', value: 'Rome' })
    const approval = await opened.wait()
    assert.equal(approval.kind, 'approval')
    await opened.runtime.answer(approval.id, { decision: 'approve' })
    assert.equal(await run.done, 'complete')
    assert.deepEqual(seen, [{ ask: 'where' }])
  })

  test('does nothing after its question, whether it waits for it or not', async () => {
    const journal: string[] = []
    const careless = createTool({
      id: 'choose',
      description: 'Goes on after it asked.',
      execute: async (_input, { resumeData, suspend }) => {
        if (resumeData === undefined) {
          await suspend({})
          journal.push('went on')
        }
        return 'done'
      },
    })
    const hasty = createTool({
      id: 'hasty',
      description: 'Does not wait for its question.',
      execute: async (_input, { resumeData, suspend }) => {
        if (resumeData === undefined) void suspend({})
        return resumeData === undefined ? 'too early' : 'done'
      },
    })
    const script = [
      {
        toolCalls: [
          { id: 'c1', name: 'choose' },
          { id: 'c2', name: 'hasty' },
        ],
      },
      { text: 'Done.' },
    ]
    await using thread = await open(script, [careless, hasty])
    const run = await thread.runtime.submit(INPUT)
    for (const _question of ['first', 'second']) {
      await thread.runtime.answer((await thread.wait()).id, { decision: 'answer', value: {} })
    }
    assert.equal(await run.done, 'complete')
    assert.deepEqual(journal, [])
    assert.equal((await thread.result('c1'))?.result, 'done')
    assert.equal((await thread.result('c2'))?.result, 'done')
  })

  test('a tool that needed approval needs it once, not again after its question', async () => {
    const journal: string[] = []
    await using thread = await open(CALL, [painter(journal)], () => ({ policy: 'ask', reason: 'paint is dear' }))
    const run = await thread.runtime.submit(INPUT)
    const approval = await thread.wait()
    assert.equal(approval.kind, 'approval')
    assert.deepEqual(journal, [])
    await thread.runtime.answer(approval.id, { decision: 'approve' })
    await thread.runtime.answer((await thread.wait()).id, { decision: 'answer', value: { colour: 'red' } })
    assert.equal(await run.done, 'complete')
    assert.deepEqual(journal, ['asked', 'painted red'])
  })

  test('is not carried out again when it was denied while it waited', async () => {
    const journal: string[] = []
    let decision: Decision = { policy: 'allow', reason: 'fine' }
    await using thread = await open(CALL, [painter(journal)], () => decision)
    const run = await thread.runtime.submit(INPUT)
    const wait = await thread.wait()
    decision = { policy: 'deny', reason: 'no more paint' }
    await thread.runtime.answer(wait.id, { decision: 'answer', value: { colour: 'red' } })
    assert.equal(await run.done, 'complete')
    assert.deepEqual(journal, ['asked'])
    assert.match(JSON.stringify(await thread.result('c1')), /no more paint/)
  })

  test('a question that is declined is reported to the model, and its tool does not run again', async () => {
    const journal: string[] = []
    await using thread = await open(CALL, [painter(journal)])
    const run = await thread.runtime.submit(INPUT)
    await thread.runtime.answer((await thread.wait()).id, { decision: 'decline', reason: 'ask me tomorrow' })
    assert.equal(await run.done, 'complete')
    assert.deepEqual(journal, ['asked'])
    const result = await thread.result('c1')
    assert.equal(result?.isError, true)
    assert.match(JSON.stringify(result), /declined: ask me tomorrow/)
  })

  test('a call that is cancelled is closed together with its question', async () => {
    await using thread = await open(CALL, [painter([])])
    const run = await thread.runtime.submit(INPUT)
    const wait = await thread.wait()
    await thread.runtime.cancel()
    assert.equal(await run.done, 'aborted')
    assert.equal(thread.runtime.state.head.waits.size, 0)
    await assert.rejects(thread.runtime.answer(wait.id, { decision: 'answer', value: {} }))
    const events = (await thread.records()).flatMap(agentEventsOf)
    assert.equal(events.filter((event) => event.type === 'finish').length, 1)
    assert.equal(events.filter((event) => event.type === 'tool-result').length, 1)
  })
})

/** Starts the child; with `kill` it is killed as soon as it waits. Returns the wait it reported. */
async function child(args: readonly string[], kill: boolean): Promise<{ wait: Wait; isDone: boolean }> {
  const process_ = spawn(process.execPath, [CHILD, ...args], { stdio: ['ignore', 'pipe', 'inherit'] })
  let output = ''
  process_.stdout.setEncoding('utf8')
  process_.stdout.on('data', (chunk: string) => {
    output += chunk
    if (kill && /^waiting .*\n/m.test(output)) process_.kill('SIGKILL')
  })
  await new Promise((resolve) => process_.once('close', resolve))
  const wait = JSON.parse(/^waiting (.*)$/m.exec(output)?.[1] ?? 'null') as Wait
  return { wait, isDone: /^done$/m.test(output) }
}

suite('kill -9 while a tool waits for its answer', () => {
  test(
    'twice: the question is still there, the answer continues the same call, the tool acts once',
    { timeout: 120_000 },
    async () => {
      const folder = await mkdtemp(join(tmpdir(), 'inspan-suspension-'))
      try {
        const url = join(folder, 'data.db')
        const journal = join(folder, 'journal')
        const first = await child([url, journal], true)
        const second = await child([url, journal], true)
        const last = await child([url, journal, 'production'], false)
        assert.equal(last.isDone, true)
        assert.equal(first.wait.kind, 'question')
        assert.deepEqual(first.wait.payload, { question: 'Where does 1.2 go?' })
        assert.deepEqual(second.wait, first.wait)
        assert.deepEqual(last.wait, first.wait)
        assert.equal(await readFile(journal, 'utf8'), `1.2 to production ${first.wait.run}:c1\n`)
        const store = new SqliteStore({ url })
        const records = await Array.fromAsync(recordsAfter(store, 'thread', 0))
        await store.close()
        const events = records.flatMap(agentEventsOf)
        assert.equal(events.filter((event) => event.type === 'finish').length, 1)
        assert.deepEqual(
          events.flatMap((event) => (event.type === 'tool-result' ? [[event.toolCallId, event.result]] : [])),
          [['c1', 'deployed to production']],
        )
        assert.equal(new Set(records.flatMap(({ run }) => run ?? [])).size, 1)
      } finally {
        await rm(folder, { recursive: true })
      }
    },
  )
})
