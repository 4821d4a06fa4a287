import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { ABILITIES, type Ability, type Mode } from './abilities.ts'
import { abilitiesTables } from './abilities-table.ts'
import type { Proof } from './proofs.ts'

const MODES: readonly Mode[] = ['print', 'live', 'acp']

/** Proofs that two CLIs can do everything, in every mode. */
const everything = ['Ninth', 'Tenth'].flatMap((program) =>
  MODES.flatMap((mode) =>
    Object.keys(ABILITIES[mode]).map((ability): Proof => ({
      program,
      version: '1.0.0',
      mode,
      ability: ability as Ability,
      works: true,
    })),
  ),
)

function without(program: string, ability: Ability): readonly Proof[] {
  return everything.filter((proof) => proof.program !== program || proof.ability !== ability)
}

function rowOf(tables: string, words: string): string {
  const row = tables.split('\n').find((line) => line.includes(words)) ?? ''
  return row.replaceAll(/ +/g, ' ')
}

const fork: Omit<Proof, 'works'> = { program: 'Tenth', version: '1.0.0', mode: 'print', ability: 'fork' }

describe('the tables of what programs can do', () => {
  it('have a column for each program and version, and a row for each ability', () => {
    const tables = abilitiesTables(everything)
    assert.match(tables, /\| Ninth 1\.0\.0 \| Tenth 1\.0\.0 \|/)
    assert.equal(rowOf(tables, 'Runs a command '), '| Runs a command | ✓ | ✓ |')
    assert.equal(tables.split('\n').filter((line) => line.startsWith('###')).length, MODES.length)
  })

  it('explain why a program cannot do something, once for all that have the same reason', () => {
    const cannot = { works: false, note: 'It has none.' }
    const tables = abilitiesTables([
      ...without('Tenth', 'fork'),
      { ...fork, ...cannot },
      { ...fork, ...cannot, mode: 'live' },
      { ...fork, ability: 'resume', works: true, note: 'It has none.' },
    ])
    assert.equal(rowOf(tables, 'Forks'), '| Forks its session where our thread is | ✓ | – (1) |')
    assert.equal(rowOf(tables, 'Resumes its session'), '| Resumes its session in another process | ✓ | ✓ (1) |')
    assert.equal(tables.split('\n').filter((line) => line === '1. It has none.').length, 2, 'once under each table')
  })

  it('are refused when nothing was shown about a program', () => {
    assert.throws(() => abilitiesTables(without('Tenth', 'fork')), /No test of Tenth 1\.0\.0 \(print\).*"fork"/)
  })

  it('are refused when tests contradict each other', () => {
    const other = { ...fork, works: false, note: 'It has none.' }
    assert.throws(() => abilitiesTables([...everything, other]), /contradict each other about "fork"/)
  })

  it('are the same whatever the order of the tests', () => {
    const notes = ['Slowly.', 'Without a word.'].map((note): Proof => ({ ...fork, works: true, note }))
    assert.equal(
      abilitiesTables([...everything, ...notes]),
      abilitiesTables([...notes.toReversed(), ...everything.toReversed()]),
    )
  })
})
