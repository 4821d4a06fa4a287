import assert from 'node:assert/strict'
import { suite, test } from 'node:test'
import { Container, Markdown, Spacer, type Component } from '@earendil-works/pi-tui'
import fc from 'fast-check'
import { GROWTH_LIMIT, timeGrowth } from '@inspan/testing'
import { markdownPieces } from './markdown-pieces.ts'
import { createTheme } from './theme.ts'

const { markdown } = createTheme(true)

/** Lines are padded or not; nobody sees that. */
function drawn(view: Component): string[] {
  return view.render(40).map((each) => each.trimEnd())
}

function whole(text: string): string[] {
  return drawn(new Markdown(text, 0, 0, markdown))
}

function inPieces(text: string): string[] {
  const view = new Container()
  markdownPieces(text).forEach((piece, index) => {
    if (index > 0) view.addChild(new Spacer(1))
    view.addChild(new Markdown(piece, 0, 0, markdown))
  })
  return drawn(view)
}

/** Lines as models write them, also unfinished ones. */
const line = fc.constantFrom(
  'Plain words, and more of them than fit into one line of this terminal.',
  'One **bold** and `code`.',
  '',
  '',
  '- an item',
  '  goes on',
  '1. first',
  '```ts',
  '```',
  '~~~~',
  '    indented',
  '> quoted',
  '# Heading',
  '| a | b |',
  '| - | - |',
  '---',
  '===',
  '**unfinished',
  '[link]: http://example.com',
  'See [link].',
  '<b>html</b>',
  '*',
  '12) twelve',
)
const text = fc.array(line, { maxLength: 14 }).map((lines) => lines.join('\n').trim())

suite('Markdown in pieces', () => {
  test('looks exactly as it does in one piece', () => {
    fc.assert(
      fc.property(text, (given) => assert.deepEqual(inPieces(given), whole(given))),
      { numRuns: 3000 },
    )
  })

  test('is the same text again, with an empty line between the pieces', () => {
    fc.assert(fc.property(text, (given) => assert.equal(markdownPieces(given).join('\n\n'), given)))
  })

  test('has one piece per paragraph of prose, so that only the last one is laid out again', () => {
    const paragraphs = Array.from({ length: 20 }, (_, index) => `Paragraph ${index} is here.`)
    assert.deepEqual(markdownPieces(paragraphs.join('\n\n')), paragraphs)
  })

  test('does not split code, lists or what a definition of a link may change', () => {
    for (const kept of ['```\na\n\nb\n```', '- a\n\nb', 'See [a].\n\nMore.\n\n[a]: http://x']) {
      assert.deepEqual(markdownPieces(kept), [kept])
    }
  })

  test('is found in time that grows with the text', async () => {
    for (const shape of ['word\n\n', '\n', '- a\n\n', '```\n', '    x\n', '**', 'a |\n'])
      for (const start of ['', 'a\n\n> b\n\n', 'a\n- b\n\n']) {
        const growth = await timeGrowth((factor) => {
          const given = start + shape.repeat(3_000 * factor)
          return () => markdownPieces(given)
        })
        assert.ok(growth <= GROWTH_LIMIT, `${JSON.stringify(start + shape)}: the time grows ${growth.toFixed(1)} times`)
      }
  })
})
