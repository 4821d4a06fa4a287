import assert from 'node:assert/strict'
import { suite, test } from 'node:test'
import type { HarnessErrorEvent } from '@inspan/protocol/harness'
import { startProvider } from '@inspan/testing'
import { ForeignAgent, type Act } from '../../engine/foreign-agent.fixture.ts'
import { HarnessBench } from '../harness.fixture.ts'

const ONCE = { retry: { maxRetries: 0 } }

type Said = Pick<HarnessErrorEvent, 'retryable' | 'retryDelay'>

function said({ retryable, retryDelay }: HarnessErrorEvent): Said {
  return { ...(retryable === undefined ? {} : { retryable }), ...(retryDelay === undefined ? {} : { retryDelay }) }
}

suite('an error reports whether a retry may help, and when', () => {
  for (const [what, error, expected] of [
    ['too many requests', { status: 429, retryAfterMs: 1_500 }, { retryable: true, retryDelay: 1_500 }],
    ['too many requests, until nobody says when', { status: 429 }, { retryable: true }],
    ['an overloaded provider', { status: 529 }, { retryable: true }],
    ['a broken provider', { status: 500 }, { retryable: true }],
    ['a wrong request', { status: 400 }, { retryable: false }],
    ['a wrong key', { status: 401 }, { retryable: false }],
    ['what the provider says not to repeat', { status: 500, retryable: false }, { retryable: false }],
  ] as const) {
    test(what, async () => {
      await using bench = new HarnessBench([{ error }], {}, ONCE)
      await bench.harness.sendMessage({ content: 'Go.' })
      assert.deepEqual(bench.all('error').map(said), [expected])
    })
  }

  test('overloaded in the middle of an answer', async () => {
    const failed = { text: 'Half', streamError: { message: 'Overloaded', type: 'overloaded_error' } }
    await using bench = new HarnessBench([failed], {}, ONCE)
    await bench.harness.sendMessage({ content: 'Go.' })
    assert.deepEqual(bench.all('error').map(said), [{ retryable: true }])
  })

  test('an answer that is cut off', async () => {
    await using bench = new HarnessBench([{ text: 'Half', cut: true }], {}, ONCE)
    await bench.harness.sendMessage({ content: 'Go.' })
    assert.deepEqual(bench.all('error').map(said), [{ retryable: true }])
  })

  test('nobody at the other end of the line', async () => {
    const provider = await startProvider([])
    await provider.close()
    const asks = async (): Promise<never> => {
      await fetch(provider.url)
      throw new Error('Somebody was there.')
    }
    await using bench = new HarnessBench([asks], {}, ONCE)
    await bench.harness.sendMessage({ content: 'Go.' })
    assert.deepEqual(bench.all('error').map(said), [{ retryable: true }])
  })

  for (const [code, expected] of [
    ['429', { retryable: true }],
    ['503', { retryable: true }],
    ['400', { retryable: false }],
    ['overloaded_error', { retryable: true }],
    ['rate_limit', { retryable: true }],
    ['serverOverloaded', { retryable: true }],
    ['auth-required', {}],
    [undefined, {}],
  ] as const) {
    test(`an error of a program with the code "${code ?? 'no code'}" says whether to retry`, async () => {
      const fails: Act = async function* () {
        const error = { name: 'Error', message: 'No.' }
        yield { type: 'error', error, ...(code === undefined ? {} : { code }) }
      }
      const agent = new ForeignAgent('foreign', [fails])
      await using bench = new HarnessBench([], { modes: [{ id: 'm', agent }] })
      await bench.harness.sendMessage({ content: 'Go.' })
      assert.deepEqual(bench.all('error').map(said)[0], expected)
    })
  }

  test('the JSON form of an error reports whether a retry may help, and when', async () => {
    await using bench = new HarnessBench([{ error: { status: 429, retryAfterMs: 20 } }], {}, ONCE)
    await bench.harness.sendMessage({ content: 'Go.' })
    const [event] = bench.all('error')
    assert.ok(event !== undefined)
    const { retryable, retryDelay } = JSON.parse(bench.kept.get(event) ?? '{}') as HarnessErrorEvent
    assert.deepEqual([retryable, retryDelay], [true, 20])
  })
})
