/** Answers that a harness reads take time in proportion to their size. */
import assert from 'node:assert/strict'
import { suite, test } from 'node:test'
import { GROWTH_LIMIT, timeGrowth } from '@inspan/testing'
import { parseSubagentMeta } from './agents/subagent-meta.ts'
import { readJudgement } from './goals/judge.ts'

const SHAPES: readonly string[] = [
  'word ',
  '\n',
  ' ',
  '{',
  '}',
  '\n<subagent-meta',
  ' a="b"',
  '\n<subagent-meta a=" />',
  '/>',
]
const LONG = 20_000

suite('ten times as much text takes at most twelve times the time', () => {
  for (const start of ['', '{"verdict":"done","reason":"', '\n<subagent-meta tools="']) {
    test(`after ${JSON.stringify(start)}`, async () => {
      for (const shape of SHAPES) {
        const growth = await timeGrowth((factor) => {
          const text = start + shape.repeat(Math.ceil((LONG * factor) / shape.length))
          return () => {
            parseSubagentMeta(text)
            assert.throws(() => readJudgement(text))
          }
        })
        assert.ok(growth <= GROWTH_LIMIT, `${JSON.stringify(shape)}: the time grows ${growth.toFixed(1)} times`)
      }
    })
  }
})
