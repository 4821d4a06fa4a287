/** Files and outputs that others wrote take time in proportion to their size. */
import assert from 'node:assert/strict'
import { suite, test } from 'node:test'
import { GROWTH_LIMIT, timeGrowth } from '@inspan/testing'
import { redactSecrets } from './redaction/redact-secrets.ts'
import { splitFrontMatter } from './skills/front-matter.ts'
import { editText, plainText } from './workspace/edit-text.ts'

const SHAPES: readonly string[] = [
  'word ',
  ' ',
  '\n',
  'x',
  '---\n',
  '\n---  x',
  'sk-ant-',
  'password = ',
  'https://a:b@',
  '-----BEGIN PRIVATE KEY-----\n',
  'authorization: Bearer ',
  'eyJ',
  'AKIA',
]
const LONG = 20_000
const redact = redactSecrets()
const READERS: Readonly<Record<string, (text: string) => unknown>> = {
  'secrets are removed': redact,
  'the settled part of a stream is found': redact.settled,
  'a file is edited once': (text) => editText(`${plainText(text).text}the end`, { old: 'the end', new: 'x' }),
  'lines to edit are nearly found': (text) => {
    const lines = text.replaceAll(' ', '\n')
    assert.throws(() => editText(lines, { old: `${lines.slice(lines.length / 2)} \nthe end`, new: 'x' }))
  },
  'a file is edited everywhere': (text) => editText(text, { all: true, old: text.slice(0, 1), new: 'y' }),
  'front matter is split off': (text) => splitFrontMatter(`---\n${text}`),
}

suite('ten times as much text takes at most twelve times the time', () => {
  for (const [what, read] of Object.entries(READERS)) {
    test(what, async () => {
      for (const shape of SHAPES) {
        const growth = await timeGrowth((factor) => {
          const text = shape.repeat(Math.ceil((LONG * factor) / shape.length))
          return () => read(text)
        })
        assert.ok(growth <= GROWTH_LIMIT, `${JSON.stringify(shape)}: the time grows ${growth.toFixed(1)} times`)
      }
    })
  }
})
