import assert from 'node:assert/strict'
import { join } from 'node:path'
import { aMessage, assertRecorded } from './bench.ts'
import { answered, assertUsage, ONLY_AT_ITS_END, type Scenario } from './scenario.ts'

/** Where a CLI resumes, and what is recorded of a run. */
export const sessionScenarios: readonly Scenario[] = [
  {
    name: 'resume',
    title: 'goes on with its session, and counts only what the turn used',
    script: ['First answer.', 'Second answer.'].map((text) => ({
      text,
      usage: { inputTokens: 100, outputTokens: 20 },
    })),
    play: async (bench) => {
      const first = await bench.turn()
      assert.ok(first.binding)
      const second = await bench.turn({ binding: first.binding })
      assert.equal(answered(second.events), 'Second answer.')
      assert.match(bench.request(1), /First answer\./)
      assert.equal(second.binding?.nativeId, first.binding.nativeId)
      await assertUsage(bench, second.events, { outputTokens: 20 })
    },
  },
  {
    name: 'resume-at-anchor',
    title: 'goes on at our anchor, not at the end of its session',
    script: ['First answer.', 'Second answer.', 'Third answer.', 'Fourth answer.'].map((text) => ({ text })),
    play: async (bench) => {
      const { binding } = await bench.turn()
      assert.ok(binding)
      await bench.turn({ binding })
      const third = await bench.turn({ binding })
      const request = bench.request(2)
      assert.match(request, /First answer\./)
      assert.doesNotMatch(request, /Second answer\./)
      assert.ok(third.binding)
      await bench.turn({ binding: third.binding })
      assert.match(bench.request(3), /First answer\.[^]*Third answer\./)
    },
  },
  {
    name: 'fork',
    title: 'forks its session at our anchor and leaves the other as it was',
    script: ['First answer.', 'Second answer.', 'Third answer.', 'Fourth answer.'].map((text) => ({ text })),
    play: async (bench) => {
      const first = await bench.turn()
      assert.ok(first.binding)
      const second = await bench.turn({ binding: first.binding })
      const { anchor = '', nativeId } = first.binding
      const fork = await bench.turn({
        binding: { ...first.binding, origin: true },
        history: [aMessage('First answer.', { sessionId: nativeId, messageId: anchor })],
      })
      assert.notEqual(fork.binding?.nativeId, nativeId)
      const request = bench.request(2)
      assert.match(request, /First answer\./)
      assert.doesNotMatch(request, /Second answer\./)
      assert.ok(second.binding)
      await bench.turn({ binding: second.binding })
      const after = bench.request(3)
      assert.match(after, /Second answer\./)
      assert.doesNotMatch(after, /Third answer\./)
      const { fork: can } = await bench.agent().describe()
      if (can === 'none') return { cannot: 'fork', because: ONLY_AT_ITS_END }
    },
  },
  {
    name: 'head-moved',
    title: 'begins a new session when its own may have gone on unseen',
    disproves: 'resume-at-anchor',
    script: ['First answer.', 'Second answer.'].map((text) => ({ text })),
    play: async (bench) => {
      const { binding } = await bench.turn()
      assert.ok(binding)
      const { extra: _extra, anchor: _anchor, ...unsettled } = binding
      const second = await bench.turn({ binding: unsettled })
      assert.doesNotMatch(bench.request(1), /First answer\./)
      assert.ok(second.warnings.some((warning) => /begins a new session/.test(warning)))
    },
  },
  {
    name: 'recording',
    scriptOf: 'parallel',
    title: 'is recorded so that the recording reads again exactly as it was',
    proves: 'recording',
    play: async (bench) => {
      const dir = join(bench.place.temp, 'recording')
      const { activity } = await bench.turn({ options: { record: () => ({ dir }) } })
      await assertRecorded(dir, activity)
    },
  },
]
