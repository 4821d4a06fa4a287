import assert from 'node:assert/strict'
import { idly } from './side-by-side.ts'
import { answered, finishOf, theError, type Scenario } from './scenario.ts'

/** Long enough to have asked the model, unless the machine is very busy. */
const DEADLINE_MS = 20_000

/** What happens to a turn if its provider does not answer as it should. */
export const providerScenarios: readonly Scenario[] = [
  {
    name: 'provider-401',
    title: 'fails when the provider does not know its key',
    script: [{ error: { status: 401, message: 'invalid x-api-key' }, repeat: true }],
    play: async (bench) => {
      const { events } = await bench.turn()
      assert.notEqual(theError(events), '')
      assert.equal(finishOf(events).finishReason, 'error')
    },
  },
  {
    name: 'provider-429',
    title: 'waits and goes on when there were too many requests, and warns',
    script: [{ error: { status: 429, retryAfterMs: 100 } }, { text: 'Recovered.' }],
    play: async (bench) => {
      const { events, warnings } = await bench.turn()
      assert.equal(answered(events), 'Recovered.')
      assert.equal(finishOf(events).finishReason, 'stop')
      assert.ok(warnings.length > 0, 'the retry is a warning')
    },
  },
  {
    name: 'provider-500',
    title: 'fails when the provider is broken, with one error',
    script: [{ error: { status: 500, message: 'out of order' }, repeat: true }],
    play: async (bench) => {
      const { events } = await idly(() => bench.turn())
      assert.notEqual(theError(events), '')
      assert.equal(finishOf(events).finishReason, 'error')
    },
  },
  {
    name: 'provider-cut',
    title: 'goes on when the answer is cut off',
    script: [{ text: ['Half an ', 'answ'], cut: true }, { text: 'Recovered.' }],
    play: async (bench) => {
      const { events } = await bench.turn()
      // A CLI may go on within the message that was cut.
      assert.match(answered(events) ?? '', /^(?:Half an (?:answ)?)?Recovered\.$/)
      assert.equal(finishOf(events).finishReason, 'stop')
    },
  },
  {
    name: 'provider-gone',
    title: 'gives up when the provider cannot be reached',
    script: [{ text: 'Never said.' }],
    play: async (bench) => {
      await bench.provider.close()
      const { events } = await idly(() => bench.turn())
      assert.notEqual(theError(events), '')
      assert.equal(finishOf(events).finishReason, 'error')
    },
  },
  {
    name: 'deadline',
    title: 'is ended by our deadline when the provider never answers',
    script: [{ hang: true, repeat: true }],
    play: async (bench) => {
      const { events } = await idly(() => bench.turn({ options: { deadlineMs: DEADLINE_MS } }))
      theError(events)
      assert.equal(events.find((event) => event.type === 'error')?.code, 'deadline')
      assert.equal(finishOf(events).finishReason, 'error')
    },
  },
  {
    name: 'missing-key',
    title: 'names what to set when it has no key',
    script: [{ text: 'Never said.' }],
    play: async (bench) => {
      const { events } = await bench.turn({ hasKey: false })
      const said = theError(events)
      assert.ok(said.includes(bench.cli.profile.key.hint), said)
      assert.equal(finishOf(events).finishReason, 'error')
      assert.equal(bench.provider.requests.length, 0)
    },
  },
]
