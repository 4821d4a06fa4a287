import assert from 'node:assert/strict'
import { suite, test } from 'node:test'
import { InspanError, type AgentEvent } from '@inspan/protocol'
import { Attempt, FlatTurn } from './flat-turn.ts'
import type { StepResult } from './model-answer.ts'

const said = (text: string): AgentEvent => ({ type: 'text-delta', partId: '0', text })
const words = (events: readonly AgentEvent[]): string[] =>
  events.map((event) => (event.type === 'text-delta' ? event.text : event.type))

function resultOf(text: string): StepResult {
  return { finishReason: 'stop', usage: {}, calls: [], hasContent: true, text, unkept: [], failure: undefined }
}

/** A model that says a number of words and notes when it is stopped. */
async function* model(
  name: string,
  count: number,
  log: string[] = [],
  fault?: Error,
): AsyncGenerator<AgentEvent, StepResult> {
  try {
    for (let n = 1; n <= count; n++) yield said(`${name}${n}`)
    if (fault !== undefined) throw fault
    return resultOf(name)
  } finally {
    log.push(`${name} let go`)
  }
}

suite('a turn whose attempts are recorded in order', () => {
  test('is what was said before, in and after them, and each has its result when it is over', async () => {
    const results: string[] = []
    async function* turn(): AsyncGenerator<AgentEvent | Attempt, void> {
      yield { type: 'start' }
      for (const [name, count] of [
        ['a', 2],
        ['b', 0],
        ['c', 1],
      ] as const) {
        const attempt = new Attempt(model(name, count))
        assert.throws(
          () => attempt.result,
          (error) => InspanError.is(error, 'misuse'),
        )
        yield attempt
        results.push(attempt.result.text)
      }
      yield { type: 'finish', finishReason: 'stop' }
    }
    assert.deepEqual(words(await Array.fromAsync(new FlatTurn(turn()))), ['start', 'a1', 'a2', 'c1', 'finish'])
    assert.deepEqual(results, ['a', 'b', 'c'])
  })

  test('learns of an attempt that fails, and may continue', async () => {
    const caught: unknown[] = []
    const fault = new Error('broken')
    async function* turn(): AsyncGenerator<AgentEvent | Attempt, void> {
      try {
        yield new Attempt(model('a', 1, [], fault))
      } catch (error) {
        caught.push(error)
        yield new Attempt(model('b', 1))
      }
      yield { type: 'finish', finishReason: 'error' }
    }
    assert.deepEqual(words(await Array.fromAsync(new FlatTurn(turn()))), ['a1', 'b1', 'finish'])
    assert.deepEqual(caught, [fault])
  })

  test('fails with what it does not catch', async () => {
    async function* turn(): AsyncGenerator<AgentEvent | Attempt, void> {
      yield new Attempt(model('a', 1, [], new Error('broken')))
    }
    await assert.rejects(Array.fromAsync(new FlatTurn(turn())), /broken/)
  })

  test('closes the attempt first when its reader leaves, and then itself', async () => {
    const log: string[] = []
    async function* turn(): AsyncGenerator<AgentEvent | Attempt, void> {
      try {
        yield new Attempt(model('a', 2, log))
      } finally {
        log.push('turn let go')
      }
    }
    const flat = new FlatTurn(turn())
    for await (const event of flat) {
      assert.deepEqual(words([event]), ['a1'])
      break
    }
    assert.deepEqual(log, ['a let go', 'turn let go'])
    assert.deepEqual(await flat.next(), { done: true, value: undefined })
  })
})
