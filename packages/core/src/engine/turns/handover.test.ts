import assert from 'node:assert/strict'
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { suite, test } from 'node:test'
import { claudeCode } from '@inspan/adapters'
import { nativeDriver } from '@inspan/agent'
import { NO_RULES } from '@inspan/protocol'
import type { RunnableTool } from '@inspan/protocol/driver'
import type { NoteRecord } from '@inspan/protocol/log'
import { scriptedModel, type ModelTurn } from '@inspan/testing'
import { createPolicy } from '../../policy/index.ts'
import { RuntimeBench } from '../runtime-bench.fixture.ts'
import type { ThreadRuntimeOptions } from '../thread-options.ts'

/** Behaves like the CLI and stores each prompt in a file, one per start. */
const PROGRAM = `#!/usr/bin/env node
import { existsSync, readFileSync, writeFileSync } from 'node:fs'
if (process.argv.includes('--version')) { console.log('2.1.326 (Claude Code)'); process.exit(0) }
let n = 1
while (existsSync('prompt-' + n)) n++
writeFileSync('prompt-' + n, readFileSync(0, 'utf8'))
const say = (line) => console.log(JSON.stringify({ ...line, session_id: 'session', uuid: 'uuid-' + n + '-' + line.type }))
say({ type: 'system', subtype: 'init', cwd: process.cwd(), tools: [], model: 'm' })
say({ type: 'assistant', message: { id: 'msg-' + n, type: 'message', role: 'assistant', model: 'm', content: [{ type: 'text', text: 'Answer ' + n }] } })
say({ type: 'result', subtype: 'success', is_error: false, result: 'Answer ' + n, num_turns: 1, duration_ms: 1 })
`

const look: RunnableTool = {
  name: 'look_up',
  inputSchema: { type: 'object' },
  execute: async () => ({ result: 'SECRET-NUMBER 42' }),
}

class Relay implements AsyncDisposable {
  readonly bench: RuntimeBench
  readonly model: ReturnType<typeof scriptedModel>
  readonly #folder: string

  private constructor(bench: RuntimeBench, model: ReturnType<typeof scriptedModel>, folder: string) {
    this.bench = bench
    this.model = model
    this.#folder = folder
  }

  static async open(script: readonly ModelTurn[], options: Partial<ThreadRuntimeOptions> = {}): Promise<Relay> {
    const folder = await mkdtemp(join(tmpdir(), 'inspan-handover-'))
    const bin = join(folder, 'claude.mjs')
    await writeFile(bin, PROGRAM, { mode: 0o755 })
    const model = scriptedModel(script)
    const bench = await RuntimeBench.open(
      {
        native: { driver: nativeDriver({ id: 'native', model }), tools: [look] },
        cli: { driver: claudeCode({ id: 'cli', bin, transport: 'print', cwd: folder }) },
      },
      { policy: createPolicy({ rules: { ...NO_RULES, tools: { look_up: 'allow' } } }), ...options },
    )
    return new Relay(bench, model, folder)
  }

  async say(text: string, agentId: 'native' | 'cli'): Promise<void> {
    const { done } = await this.bench.submit(text, { agentId })
    assert.equal(await done, 'complete', JSON.stringify(await this.bench.bodies('error')))
  }

  /** Returns the prompt of the nth start. */
  async told(n: number): Promise<string> {
    return readFile(join(this.#folder, `prompt-${n}`), 'utf8')
  }

  async notes(): Promise<NoteRecord[]> {
    return (await this.bench.bodies('note')).filter(({ kind }) => kind === 'handover')
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.bench[Symbol.asyncDispose]()
    await rm(this.#folder, { recursive: true })
  }
}

suite('a thread whose agent changes', () => {
  test('gives the next one who said what, with calls and results as text, and then only what it missed', async () => {
    await using relay = await Relay.open([
      { text: 'Looking.', toolCalls: [{ id: 'c', name: 'look_up', input: { key: 'KEY-1' } }] },
      { text: 'It is 42.' },
      { text: 'LATER WORDS' },
    ])
    await relay.say('What is it?', 'native')
    await relay.say('Do you agree?', 'cli')
    const first = await relay.told(1)
    for (const words of ['What is it?', 'It is 42.', 'look_up', 'KEY-1', 'SECRET-NUMBER 42']) {
      assert.ok(first.includes(words), `${words}: ${first}`)
    }
    assert.match(first, /from=\\?"user/)
    assert.match(first, /from=\\?"assistant\\?" name=\\?"native/)
    assert.ok(first.lastIndexOf('Do you agree?') > first.indexOf('It is 42.'), 'the task comes last')
    assert.equal(first.split('Do you agree?').length, 2, 'and once')

    await relay.say('And now?', 'native')
    await relay.say('Still?', 'cli')
    const second = await relay.told(2)
    assert.ok(second.includes('LATER WORDS') && second.includes('And now?'), second)
    for (const words of ['What is it?', 'SECRET-NUMBER', 'Do you agree?', 'Answer 1']) {
      assert.ok(!second.includes(words), `it knows ${words} already: ${second}`)
    }
    const [one, two] = await relay.notes()
    assert.equal(one?.data?.['truncated'], false)
    assert.ok(Number(one.data['messages']) >= 3 && Number(one.data['tokens']) > 10)
    assert.equal(two?.data?.['messages'], 2)
  })

  test('reports what was left out when there was too much: the newest is kept', async () => {
    const long = 'many words '.repeat(200)
    await using relay = await Relay.open([{ text: `OLDEST ${long}` }, { text: 'NEWEST' }], { handoverTokens: 100 })
    await relay.say('One', 'native')
    await relay.say('Two', 'native')
    await relay.say('Three', 'cli')
    const told = await relay.told(1)
    assert.ok(told.includes('NEWEST') && !told.includes('OLDEST'), told)
    assert.match(told, /Older messages are left out \(2 of them\)/)
    const [note] = await relay.notes()
    assert.deepEqual([note?.data?.['truncated'], note?.data?.['omitted']], [true, 2])
    assert.match(note?.text ?? '', /2 older ones were left out/)
  })

  test('passes on the beginning of the newest message when that alone does not fit, and reports it', async () => {
    const long = 'many words '.repeat(500)
    await using relay = await Relay.open([{ text: `BEGINNING ${long} ENDING` }], { handoverTokens: 100 })
    await relay.say('One', 'native')
    await relay.say(`Two ${'and a long question '.repeat(100)}`, 'cli')
    const told = await relay.told(1)
    assert.ok(told.includes('BEGINNING') && !told.includes('ENDING'), told)
    assert.match(told, /The first of these is cut/)
    assert.match(told, /Older messages are left out \(1 of them\)/)
    assert.equal((await relay.notes())[0]?.data?.['truncated'], true)
  })

  test('gives an agent that takes over in the middle of a run what was asked at its beginning', async () => {
    await using relay = await Relay.open([{ text: 'The plan stands.', toolCalls: [{ name: 'look_up' }] }])
    const { bench } = relay
    bench.runtime.onEntry((entry) => {
      if (entry.kind !== 'record' || entry.record.body.type !== 'call.started') return
      void bench.runtime.handOff({ agentId: 'cli', input: [{ id: '0', type: 'text', text: 'Build it.' }] })
    })
    await relay.say('Make me a table of oak.', 'native')
    const told = await relay.told(1)
    for (const words of ['Make me a table of oak.', 'The plan stands.', 'SECRET-NUMBER 42', 'Build it.']) {
      assert.equal(told.split(words).length, 2, `${words} is told once: ${told}`)
    }
    assert.ok(told.lastIndexOf('Build it.') > told.indexOf('</conversation>'), 'the task comes last')
  })

  test('shows our own loop what a foreign agent said and did, never as calls of tools that it does not have', async () => {
    await using relay = await Relay.open([{ text: 'I see.' }])
    await relay.say('Go', 'cli')
    await relay.say('And you?', 'native')
    const request = JSON.stringify(relay.model.requests[0])
    assert.match(request, /Answer 1/)
    assert.ok(!request.includes('"tool-call"'))
  })
})
