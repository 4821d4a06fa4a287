import { readdirSync, readFileSync, statSync } from 'node:fs'
import { join } from 'node:path'
import type { AfterKill } from './kill-during-approval.ts'

/** One library in the comparison of programs. */
export interface Row extends AfterKill {
  readonly name: string
  readonly lines: number
  readonly packages: number
  readonly megabytes: number
}

/** One measurement of `bench-peers.ts --json`. */
export type Cell = Readonly<Record<string, string | number>>

/** Counts the lines of a program that are not empty. */
export function countLines(file: string): number {
  return readFileSync(file, 'utf8')
    .split('\n')
    .filter((line) => line.trim() !== '').length
}

/** Returns the size of all files in a folder, in bytes. Links are not followed. */
export function folderSize(folder: string): number {
  const files = readdirSync(folder, { recursive: true, withFileTypes: true }).filter((entry) => entry.isFile())
  return files.reduce((sum, { name, parentPath }) => sum + statSync(join(parentPath, name)).size, 0)
}

export function programTable(rows: readonly Row[]): string {
  return table(
    ['', 'asked again after the kill', 'tool runs after one approval', 'answer finished', 'lines', 'packages', 'MB'],
    rows.map((row) => [
      row.name,
      row.isAskedAgain ? 'yes' : 'no',
      String(row.toolRuns),
      row.isFinished ? 'yes' : 'no',
      String(row.lines),
      String(row.packages),
      row.megabytes.toFixed(1),
    ]),
  )
}

const SUBJECTS = {
  streamText: '`streamText`',
  inspan: 'Inspan, memory',
  'inspan-sqlite': 'Inspan, SQLite',
  mastra: 'Mastra, memory',
  'mastra-libsql': 'Mastra, LibSQL',
} as const

const MEASURES: readonly (readonly [title: string, measure: string, count: number, figure: string])[] = [
  ['answer of 100 deltas, CPU ms', 'stream', 100, 'cpuMs'],
  ['answer of 1,000 deltas, CPU ms', 'stream', 1_000, 'cpuMs'],
  ['answer of 10,000 deltas, CPU ms', 'stream', 10_000, 'cpuMs'],
  ['cold start to the end of the first answer, CPU ms', 'cold', 1, 'cpuMs'],
  ['memory of that process, MB', 'cold', 1, 'rssMb'],
  ['heap of an idle session, KB', 'idle', 100, 'heapKb'],
  ['100 sessions at once, 200 deltas each, CPU ms', 'concurrent', 100, 'cpuMs'],
  ['memory of that process, MB', 'concurrent', 100, 'rssMb'],
]

export function benchTable(cells: readonly Cell[]): string {
  const rows = MEASURES.map(([title, measure, count, figure]) => {
    const figures = Object.keys(SUBJECTS).map((subject) => {
      const cell = cells.find(
        (each) => each['measure'] === measure && each['count'] === count && each['subject'] === subject,
      )
      return String(cell?.[figure] ?? '')
    })
    return [title, ...figures]
  })
  return table(['', ...Object.values(SUBJECTS)], rows)
}

function table(head: readonly string[], rows: readonly (readonly string[])[]): string {
  const widths = head.map((title, column) => Math.max(3, title.length, ...rows.map((row) => row[column]?.length ?? 0)))
  const line = (cells: readonly string[]): string =>
    `| ${cells.map((cell, column) => cell.padEnd(widths[column] ?? 0)).join(' | ')} |`
  return [line(head), line(widths.map((width) => '-'.repeat(width))), ...rows.map(line)].join('\n')
}
