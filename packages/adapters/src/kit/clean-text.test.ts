import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { cleanText } from './clean-text.ts'

describe('terminal escapes in text', () => {
  it('lose colours, cursor movements and resets', () => {
    assert.equal(cleanText('\u001b[31mred\u001b[0m \u001b[2Kline \u001b[38;5;12mx'), 'red line x')
  })

  it('keeps the label of a link, whichever way the sequence ends', () => {
    assert.equal(cleanText('\u001b]8;;https://example.com\u0007label\u001b]8;;\u0007'), 'label')
    assert.equal(cleanText('\u001b]8;;https://example.com\u001b\\label\u001b]8;;\u001b\\'), 'label')
    assert.equal(cleanText('\u009d8;;https://example.com\u009clabel\u009d8;;\u009c'), 'label')
  })

  it('are found in their eight-bit forms as well', () => {
    assert.equal(cleanText('\u009b31mred\u009b0m'), 'red')
  })

  it('take no more than their line if they never end', () => {
    assert.equal(cleanText('before\u001b]0;title without end\nafter'), 'before\nafter')
    assert.equal(cleanText('cut\u001b'), 'cut')
    assert.equal(cleanText('cut\u001b['), 'cut')
  })

  it('leaves everything else alone, also what only looks like an escape', () => {
    for (const text of ['plain', 'a [31m b', 'tab\tnewline\n', 'ünïcödé 🙂', '\u0000', ''])
      assert.equal(cleanText(text), text)
  })
})
