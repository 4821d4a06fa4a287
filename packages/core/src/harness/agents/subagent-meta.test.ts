import assert from 'node:assert/strict'
import { suite, test } from 'node:test'
import { parseSubagentMeta } from '../../index.ts'

suite('the result of a subagent of another harness', () => {
  for (const [what, content, expected] of [
    ['says nothing of how it came about', 'All fine.', { text: 'All fine.' }],
    [
      'says who made it, how long it took and what was called',
      'All\nfine.\n<subagent-meta modelId="x/y" durationMs="120" tools="read:ok,mcp:fetch:err" />',
      {
        text: 'All\nfine.',
        modelId: 'x/y',
        durationMs: 120,
        toolCalls: [
          { name: 'read', isError: false },
          { name: 'mcp:fetch', isError: true },
        ],
      },
    ],
    [
      'called nothing',
      'Fine.\n<subagent-meta modelId="" durationMs="0" tools="" />',
      { text: 'Fine.', modelId: '', durationMs: 0, toolCalls: [] },
    ],
    [
      'only speaks of such a tag',
      'It ends in <subagent-meta modelId="x" /> as a rule.',
      { text: 'It ends in <subagent-meta modelId="x" /> as a rule.' },
    ],
    ['has a number that is none', 'Fine.\n<subagent-meta durationMs="soon" />', { text: 'Fine.' }],
  ] as const) {
    test(what, () => assert.deepEqual(parseSubagentMeta(content), expected))
  }
})
