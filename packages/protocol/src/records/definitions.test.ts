/** A type of record is defined in one place. Type, schema, codec, erasure and redaction follow from the definition. */
import assert from 'node:assert/strict'
import { globSync, readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { describe, it } from 'node:test'
import { CONTROL_RECORDS } from './control.ts'

const source = dirname(import.meta.dirname)
const DEFINITIONS = 'records/control.ts'
/** What a record means for a thread, and what an agent said by it, is decided here, case by case; the last makes one. */
const USERS: ReadonlySet<string> = new Set(['reduce/reduce.ts', 'replay.ts', 'chat-input.ts'])
/** Names for the type that follows from a definition. */
const NAMED = /BodyOf<'[a-z.]+'>/g
/** Types with a dot. The others are ordinary words, such as `note`. */
const TYPES = Object.keys(CONTROL_RECORDS).filter((type) => type.includes('.'))

const spelled = (text: string): string[] => TYPES.filter((type) => text.replaceAll(NAMED, '').includes(`'${type}'`))

describe('a type of record', () => {
  const files = globSync('**/*.ts', { cwd: source }).filter((file) => !/\.(test|bench|fixture)\.ts$/.test(file))

  it('is spelled in its definition', () => {
    assert.ok(TYPES.length > 20 && files.includes(DEFINITIONS))
    assert.deepEqual(spelled(readFileSync(join(source, DEFINITIONS), 'utf8')), TYPES)
  })

  it('is spelled nowhere else in the protocol but where records are made and read', () => {
    const again = files
      .filter((file) => file !== DEFINITIONS && !USERS.has(file))
      .flatMap((file) => spelled(readFileSync(join(source, file), 'utf8')).map((type) => `${file}: ${type}`))
    assert.deepEqual(again, [])
  })
})
