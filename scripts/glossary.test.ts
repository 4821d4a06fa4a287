import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { describe, it } from 'node:test'
import { fileURLToPath } from 'node:url'
import { RECORD_VERSIONS } from '@inspan/protocol/log'
import { COMMAND_TYPES } from '@inspan/protocol/wire'

const root = dirname(dirname(fileURLToPath(import.meta.url)))
const text = readFileSync(join(root, 'docs/internals/glossary.md'), 'utf8')

interface Term {
  readonly word: string
  readonly meaning: string
  readonly avoid: string
}

const terms: readonly Term[] = text.split('\n').flatMap((line) => {
  const [, word, meaning, avoid] = /^\| \*\*(.+?)\*\* *\| (.+?) *\| (.+?) *\|$/.exec(line) ?? []
  return word === undefined || meaning === undefined || avoid === undefined ? [] : [{ word, meaning, avoid }]
})
const words: readonly string[] = terms.map(({ word }) => word)

/** Returns the term that a record type is about: `run` for `run.started`. */
function subjectOf(type: string): string {
  const [subject = ''] = type.split('.')
  return OTHER_WORDS[subject] ?? subject
}

/** Types named after an action or in the plural. */
const OTHER_WORDS: Readonly<Record<string, string>> = {
  'text-delta': 'part',
  'reasoning-delta': 'part',
  'tool-call': 'call',
  'tool-result': 'call',
  tasks: 'task',
  erased: 'erase',
}

/** Terms that docs, errors and other packages use, but no list in the code contains. */
const WORDS_OF_THE_DESIGN: readonly string[] = [
  'driver',
  'agent',
  'CLI',
  'harness',
  'host',
  'session',
  'chat session',
  'native session',
  'thread',
  'run',
  'turn',
  'step',
  'call',
  'wait',
  'binding',
  'lineage',
  'signal',
  'notification',
  'goal',
  'budget',
  'heartbeat',
  'command',
  'receipt',
  'checkpoint',
  'part',
  'message',
  'guard',
  'raw spool',
  'fence',
  'replica',
  'mapper',
  'dialect',
  'ledger',
  'route',
  'side request',
  'fault point',
]

describe('the glossary', () => {
  it('has each term once', () => {
    assert.ok(terms.length > 60, `only ${terms.length} terms were found`)
    assert.deepEqual(
      words.filter((word, index) => words.indexOf(word) !== index),
      [],
    )
  })

  it('has no row that is not a term, with a meaning and with what to avoid saying', () => {
    const rows = text.split('\n').filter((line) => line.startsWith('| ') && !/^\| (word|-+) +\|/.test(line))
    assert.equal(rows.length, terms.length)
    for (const { word, meaning, avoid } of terms) {
      assert.ok(meaning.length > 10 && /\.$|…$/.test(meaning), `${word}: ${meaning}`)
      assert.ok(avoid.length > 2, word)
    }
  })

  it('never advises to avoid a word for itself', () => {
    for (const { word, avoid } of terms) {
      const avoided = avoid.replaceAll(/\([^)]*\)/g, '').split(/[,;]/)
      assert.ok(!avoided.some((other) => other.trim() === word), word)
    }
  })

  it('defines what every type of record is about', () => {
    const subjects = new Set(Object.keys(RECORD_VERSIONS).map(subjectOf))
    assert.deepEqual(
      [...subjects].filter((subject) => !words.includes(subject)),
      [],
    )
  })

  it('defines every command', () => {
    assert.deepEqual(
      COMMAND_TYPES.filter((type) => !words.includes(type)),
      [],
    )
  })

  it('defines the words of the design', () => {
    assert.deepEqual(
      WORDS_OF_THE_DESIGN.filter((word) => !words.includes(word)),
      [],
    )
  })
})
