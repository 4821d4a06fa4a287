import assert from 'node:assert/strict'
import { test } from 'node:test'
import { lines } from './block.ts'
import { blocksView } from './blocks-view.ts'
import { createTheme, hasColour } from './theme.ts'

test('there is no colour where the user or the terminal refuses it', () => {
  assert.equal(hasColour({ TERM: 'xterm-256color' }), true)
  assert.equal(hasColour({ TERM: 'xterm-256color', NO_COLOR: '' }), true)
  assert.equal(hasColour({ TERM: 'xterm-256color', NO_COLOR: '1' }), false)
  assert.equal(hasColour({ TERM: 'dumb' }), false)
})

test('without colour, nothing but text is written', () => {
  const blocks = [
    { type: 'markdown', text: '# Title\n\n**bold** `code` *soft*\n\n- item\n\n```js\nlet a\n```' },
    lines({ text: 'wrong', tone: 'bad' }),
  ] as const
  const escape = String.fromCodePoint(0x1b)
  const plain = blocksView(blocks, createTheme(false)).render(60).join('\n')
  const coloured = blocksView(blocks, createTheme(true)).render(60).join('\n')
  assert.ok(!plain.includes(escape), JSON.stringify(plain))
  assert.ok(coloured.includes(`${escape}[31mwrong`))
})

test('Markdown cannot smuggle control characters in as entities', () => {
  const escape = String.fromCodePoint(0x1b)
  const text = 'a &#27;[2J &#x1b;]0;x b'
  const shown = blocksView([{ type: 'markdown', text }], createTheme(false))
    .render(80)
    .join('\n')
  assert.ok(!shown.includes(escape), JSON.stringify(shown))
})
