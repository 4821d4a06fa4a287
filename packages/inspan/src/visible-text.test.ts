import assert from 'node:assert/strict'
import { suite, test } from 'node:test'
import * as fc from 'fast-check'
import { Renderer } from './render.ts'
import { visible, VisibleText } from '@inspan/protocol/internal'

const SHOWN: readonly (readonly [string, string, string])[] = [
  ['plain text, tabs and lines', 'a\tb\nc é 漢 👋', 'a\tb\nc é 漢 👋'],
  ['colours', 'a\x1b[1;31mred\x1b[0m b', 'ared b'],
  ['a cleared screen', '\x1b[2J\x1b[Hhello', 'hello'],
  ['a title of the window', 'x\x1b]0;owned\x07y', 'xy'],
  ['a clipboard, ended the long way', 'x\x1b]52;c;ZXZpbA==\x1b\\y', 'xy'],
  ['a link whose text is another', '\x1b]8;;http://evil\x1b\\safe\x1b]8;;\x1b\\', 'safe'],
  ['a device string', 'x\x1bPq#0\x1b\\y', 'xy'],
  ['eight-bit controls', 'a\x9b31mb\x9d0;t\x9cc', 'abc'],
  ['a choice of characters', 'a\x1b(0b', 'ab'],
  ['overwriting what was said', 'rm -rf /\rls      ', 'rm -rf /ls      '],
  ['backspaces, bells and deletes', 'a\b\x07\x7fb\0', 'ab'],
  ['text turned around', 'a\u202egpj.exe\u202c\u2066b', 'agpj.exeb'],
  ['a string that never ends, up to its line', '\x1b]0;hidden\nshown', '\nshown'],
  ['a sequence that is cut off by a line', '\x1b[3\nshown', '\nshown'],
]

suite('what a terminal is shown', () => {
  for (const [what, given, shown] of SHOWN) {
    test(what, () => assert.equal(visible(given), shown))
    test(`${what}, character by character`, () => {
      const text = new VisibleText()
      assert.equal(
        Array.from(given)
          .map((char) => text.push(char))
          .join(''),
        shown,
      )
    })
  }

  test('is the same wherever the text was cut, and never holds a control', () => {
    const piece = fc.constantFrom(
      '\x1b',
      '[',
      ']',
      '0',
      ';',
      'm',
      '\x07',
      '\\',
      '\n',
      'a',
      '\x9b',
      '\x9d',
      '\r',
      'P',
      '(',
    )
    fc.assert(
      fc.property(fc.array(fc.oneof(piece, fc.string()), { maxLength: 30 }), (pieces) => {
        const text = new VisibleText()
        const shown = pieces.map((each) => text.push(each)).join('')
        assert.equal(shown, visible(pieces.join('')))
        assert.doesNotMatch(shown, /(?![\t\n])\p{Cc}/u)
      }),
    )
  })

  test('applies to all that an agent produces: texts, tools, results and errors', () => {
    let out = ''
    const renderer = new Renderer({ out: (line) => (out += `${line}\n`), write: (text) => (out += text) })
    const evil = '\x1b]0;owned\x07\x1b[31mX'
    renderer.show({ type: 'text-delta', text: 'a\x1b' })
    renderer.show({ type: 'text-delta', text: '[31mb' })
    renderer.show({ type: 'tool-call', toolCallId: 'c', toolName: evil, args: {} })
    renderer.show({ type: 'tool-result', toolCallId: 'c', toolName: 't', result: evil })
    renderer.show({ type: 'error', error: { name: 'E', message: evil } })
    renderer.show({ type: 'finish', finishReason: 'stop' })
    assert.equal(out, 'ab\n→ X {}\n✓ t X\n! X\n')
  })
})
