import assert from 'node:assert/strict'
import { suite, test } from 'node:test'
import { toPrompt } from '@inspan/agent'
import type { MemoryOf } from './thread-context.ts'
import { AgentBench, type AgentBenchOptions } from '../agent-bench.fixture.ts'
import { requestPrefix } from './request-prefix.ts'

const LONG = 'The quick brown fox jumps over the lazy dog. '.repeat(36)
const WINDOW = 8000

/** Summarises all but the newest messages whenever the conversation no longer fits. */
const summarising: MemoryOf = (thread) => ({
  tools: [],
  beforeStep: async () => undefined,
  compact: async () => {
    const messages = await thread.messages()
    const last = messages.at(-1)
    return last === undefined
      ? false
      : thread.compact('Foxes & <dogs>.', { coversTo: last.order - 1 }, [9, 1], thread.basis())
  },
  close: () => undefined,
})

async function assertPrefixes(options: AgentBenchOptions, first: string = LONG): Promise<AgentBench> {
  const bench = await AgentBench.open([{ text: 'Noted.', repeat: true }], {
    ...options,
    agent: { instructions: 'Be brief.' },
    model: { contextWindow: WINDOW },
  })
  await bench.play(first)
  for (let turn = 0; turn < 40; turn++) await bench.play(`${turn}: ${LONG}`)
  const steps = (await bench.records()).filter(({ body }) => body.type === 'step.started')
  // A refused request is repeated within its step.
  assert.equal(steps.length, bench.prompts().length - bench.model.refused)
  const { lineage } = bench.runtime.state.head
  for (const [index, step] of steps.entries()) {
    const prefix = await requestPrefix(bench.store, lineage, step.seq)
    const prompt = toPrompt(prefix?.system, prefix?.messages ?? [], 'native').map((each) => JSON.stringify(each))
    assert.deepEqual(prompt, bench.prompts()[index], `step ${index}`)
  }
  return bench
}

suite('the prefix of a request in a long thread', () => {
  test('leaves out what a cut left out, and reports how much', async () => {
    await using bench = await assertPrefixes({ runtime: { windowOf: () => WINDOW } })
    assert.match(bench.prompts().at(-1)?.join('') ?? '', /earlier messages of this conversation were left out/)
  })

  test('has the summary in place of the messages it covers', async () => {
    await using bench = await assertPrefixes({ runtime: { windowOf: () => WINDOW, memory: summarising } })
    assert.match(bench.prompts().at(-1)?.join('') ?? '', /Foxes & &lt;dogs>\./)
  })

  test('has the beginning and the end of a message that was shortened', async () => {
    await using bench = await assertPrefixes({ runtime: { windowOf: () => WINDOW } }, `A ${LONG.repeat(40)} Z`)
    assert.match(bench.prompts()[0]?.join('') ?? '', /characters were left out here/)
  })
})
