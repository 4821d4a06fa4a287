import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { checkScript } from './script-check.ts'
import type { Script } from './script.ts'

function problemOf(script: unknown): string {
  try {
    checkScript(script as Script<unknown>)
  } catch (error) {
    assert.equal((error as Error).name, 'InvalidScript')
    return (error as Error).message.replace('Invalid script: ', '')
  }
  return 'none'
}

describe('a script with a mistake is refused with the place and the remedy', () => {
  const cases: readonly [title: string, script: unknown, problem: string][] = [
    ['a misspelled key', [{ tolCalls: [] }], 'turns[0].tolCalls: unknown key. Did you mean "toolCalls"?'],
    ['a key in other letters', [{ Text: 'a' }], 'turns[0].Text: unknown key. Did you mean "text"?'],
    [
      'a key of a tool call',
      [{ text: 'a' }, { toolCalls: [{ name: 'a', arguments: {} }] }],
      'turns[1].toolCalls[0].arguments: unknown key. Known: id, name, input, inputDeltas, custom, namespace, providerExecuted, result, isError, providerMetadata.',
    ],
    ['a tool call without a name', [{ toolCalls: [{}] }], 'turns[0].toolCalls[0]: "name" is missing'],
    ['a text that is none', [{ text: 7 }], 'turns[0].text: must be a string or an array of strings, is 7'],
    [
      'an unknown finish reason',
      [{ finishReason: 'tool_calls' }],
      'turns[0].finishReason: must be "stop" or "length" or "content-filter" or "tool-calls" or "error" or "other", is "tool_calls". Did you mean "tool-calls"?',
    ],
    [
      'a status that is no error',
      [{ error: { status: 200 } }],
      'turns[0].error.status: must be an HTTP error status, 400 to 599',
    ],
    [
      'an error with an answer',
      [{ text: 'a', error: {} }],
      'turns[0].text: cannot be combined with "error". For an error after some of the answer, use "streamError"',
    ],
    ['parts with text', [{ parts: [], text: 'a' }], 'turns[0].text: cannot be combined with "parts"'],
    ['a cut that hangs', [{ cut: true, hang: true }], 'turns[0].cut: cannot be combined with "hang"'],
    ['a cut behind the end', [{ text: ['a', 'b'], cutAfter: 3 }], 'turns[0].cutAfter: is 3, but the turn has 2 deltas'],
    [
      'pieces that are not the input',
      [{ toolCalls: [{ name: 'a', input: { b: 1 }, inputDeltas: ['{', '}'] }] }],
      'turns[0].toolCalls[0].inputDeltas: joined must give the input, {"b":1}. Leave "input" out to send just these pieces',
    ],
    [
      'more cached than read',
      [{ usage: { inputTokens: 5, cachedInputTokens: 6 } }],
      'turns[0].usage.inputTokens: is the total: it must include cachedInputTokens and cacheWriteInputTokens',
    ],
    [
      'input that JSON cannot carry',
      [{ toolCalls: [{ name: 'a', input: { when: undefined } }] }],
      'turns[0].toolCalls[0].input.when: must be something JSON can carry, is undefined',
    ],
    ['a turn that is none', ['text'], 'turns[0]: must be an object, is "text"'],
    ['no list', { turns: {} }, 'script.turns: must be an array, is an object'],
    ['a route without turns', { routes: [{ match: 'a' }] }, 'script.routes[0]: "turns" is missing'],
    [
      'a turn in a route',
      { routes: [{ match: 'a', turns: [{ texts: 'a' }] }] },
      'script.routes[0].turns[0].texts: unknown key. Did you mean "text"?',
    ],
    [
      'a match on nothing',
      { routes: [{ match: '', turns: [] }] },
      'script.routes[0].match: must be a text, a RegExp or a function',
    ],
    [
      'a part of no kind',
      [{ parts: [{ image: 'a' }] }],
      'turns[0].parts[0]: must have "text", "reasoning", "toolCall" or "raw"',
    ],
    ['a repeat of zero', [{ repeat: 0 }], 'turns[0].repeat: must be at least 1'],
  ]
  for (const [title, script, problem] of cases) test(title, () => assert.equal(problemOf(script), problem))
})

test('typical turns are valid', () => {
  assert.equal(
    problemOf([
      { reasoning: 'Look first.', toolCalls: [{ name: 'read_file', input: { path: 'a.txt' } }] },
      { text: 'Done.', usage: { inputTokens: 10, outputTokens: 2 } },
      { text: ['one ', 'delta ', 'each'] },
      { error: { status: 429, retryAfterMs: 10 } },
      { text: 'half', cut: true },
      () => ({ text: 'made' }),
      {},
    ]),
    'none',
  )
})
