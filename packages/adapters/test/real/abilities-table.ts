import { ABILITIES, type Ability, type Mode } from './abilities.ts'
import type { Proof } from './proofs.ts'

const MODES: readonly Mode[] = ['print', 'live', 'acp']
const HEADINGS: Readonly<Record<Mode, string>> = {
  print: 'A process for every turn',
  live: 'A process that stays and asks',
  acp: 'Over `acp()`, without an adapter of their own',
}

/** Returns the tables of the proofs, as Markdown. Throws if proofs contradict each other or one is missing. */
export function abilitiesTables(proofs: readonly Proof[]): string {
  return MODES.map((mode) =>
    table(
      mode,
      proofs.filter((proof) => proof.mode === mode),
    ),
  ).join('\n')
}

function table(mode: Mode, proofs: readonly Proof[]): string {
  const columns = [...new Set(proofs.map(columnOf))].sort()
  const notes: string[] = []
  const cell = (column: string, ability: Ability): string => {
    const found = proofs.filter((proof) => proof.ability === ability && columnOf(proof) === column)
    const [first] = found
    if (first === undefined)
      throw new Error(`No test of ${column} (${mode}) shows that it can or cannot do "${ability}".`)
    if (found.some(({ works }) => works !== first.works)) {
      throw new Error(`Tests of ${column} (${mode}) contradict each other about "${ability}".`)
    }
    const marks = [...new Set(found.flatMap(({ note }) => note ?? []))].sort().map((note) => markOf(note, notes))
    return [first.works ? '✓' : '–', ...marks].join(' ')
  }
  const rows = Object.entries(ABILITIES[mode]).map(([ability, words]) => [
    words,
    ...columns.map((column) => cell(column, ability as Ability)),
  ])
  const listed = notes.map((note, index) => `${index + 1}. ${note}`)
  return [`### ${HEADINGS[mode]}`, '', ...aligned([['', ...columns], ...rows]), '', ...listed, ''].join('\n')
}

function columnOf({ program, version }: Proof): string {
  return `${program} ${version}`
}

/** Returns the number of a note. The same words have the same number. */
function markOf(words: string, notes: string[]): string {
  const note = sentence(words)
  if (!notes.includes(note)) notes.push(note)
  return `(${notes.indexOf(note) + 1})`
}

function sentence(words: string): string {
  return `${words.charAt(0).toUpperCase()}${words.slice(1)}${/[.!?]$/.test(words) ? '' : '.'}`
}

function aligned([head = [], ...rows]: readonly (readonly string[])[]): readonly string[] {
  const widths = head.map((_, index) => Math.max(3, ...[head, ...rows].map((row) => row[index]?.length ?? 0)))
  const line = (cells: readonly string[]): string =>
    `| ${widths.map((width, index) => (cells[index] ?? '').padEnd(width)).join(' | ')} |`
  return [line(head), line(widths.map((width) => '-'.repeat(width))), ...rows.map(line)]
}
