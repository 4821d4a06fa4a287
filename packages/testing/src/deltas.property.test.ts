import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { streamText } from 'ai'
import fc from 'fast-check'
import { clientOf, formats, tools } from '../test/clients.ts'
import { startProvider } from './provider/start-provider.ts'
import type { ModelTurn } from './script.ts'
import { scriptedModel } from './scripted-model.ts'

// Any text, because a cut between deltas may fall inside a surrogate pair or a line break.
const anyText = fc.string({
  unit: fc.oneof(fc.constantFrom('\n', '\r\n', '"', '\\', '\u2028', '👍🏽', '\0'), fc.string()),
})
const anyDeltas = fc.tuple(anyText, fc.array(fc.nat(50), { maxLength: 6 })).map(([text, cuts]) => cutAt(text, cuts))

const anyTurn = fc.record({
  text: anyDeltas,
  path: anyText,
  pieces: fc.integer({ min: 1, max: 9 }),
  interleave: fc.boolean(),
})

describe('the client assembles the same answer, however it is split into deltas', () => {
  for (const door of ['model', ...formats] as const) {
    test(door, async () => {
      await fc.assert(
        fc.asyncProperty(anyTurn, async ({ text, path, pieces, interleave }) => {
          const turn: ModelTurn = {
            text,
            toolCalls: [{ name: 'read_file', input: { path }, inputDeltas: pieces }],
            interleave,
          }
          await using server = await startProvider([turn])
          const model = door === 'model' ? scriptedModel([turn]) : clientOf(door, server)
          const result = streamText({ model, prompt: 'Hi', tools, maxRetries: 0 })
          assert.equal(await result.text, text.join(''))
          assert.deepEqual((await result.toolCalls)[0]?.input, { path })
        }),
        { numRuns: 40 },
      )
    })
  }
})

function cutAt(text: string, cuts: readonly number[]): string[] {
  const edges = [0, ...cuts.map((cut) => Math.min(cut, text.length)).sort((a, b) => a - b), text.length]
  return edges.slice(1).map((edge, index) => text.slice(edges[index], edge))
}
