import { describeCost } from '../describe-cost.ts'
import type { LaneReport } from './lane-report.ts'

export interface Comparison {
  readonly prompt: string
  readonly lanes: readonly LaneReport[]
}

export type ComparisonFormat = 'markdown' | 'json' | 'csv'

const COLUMNS = ['agent', 'time', 'input tokens', 'output tokens', 'cost', 'files', 'commands', 'exit'] as const

/** Returns the table of a comparison: a row for each lane, in the order of `COLUMNS`. */
export function comparisonTable({ lanes }: Comparison): {
  readonly columns: readonly string[]
  readonly rows: readonly (readonly string[])[]
} {
  return { columns: COLUMNS, rows: lanes.map(rowOf) }
}

function rowOf(lane: LaneReport): readonly string[] {
  const failed = lane.commands.filter(({ exitCode = 0 }) => exitCode !== 0).length
  return [
    lane.name,
    seconds(lane.durationMs),
    String(lane.inputTokens),
    String(lane.outputTokens),
    describeCost(lane),
    String(lane.files.length),
    failed === 0 ? String(lane.commands.length) : `${lane.commands.length} (${failed} failed)`,
    lane.status,
  ]
}

function seconds(ms: number): string {
  return `${(ms / 1000).toFixed(1)} s`
}

export function exportComparison(comparison: Comparison, format: ComparisonFormat): string {
  switch (format) {
    case 'json':
      return `${JSON.stringify(comparison, null, 2)}\n`
    case 'csv':
      return asCsv(comparison)
    case 'markdown':
      return asMarkdown(comparison)
  }
}

/** Numbers are plain here: the file is read by programs. */
function asCsv({ lanes }: Comparison): string {
  const columns =
    'agent,status,durationMs,inputTokens,outputTokens,costUsd,estimatedUsd,files,commands,failedCommands,thread,error'
  const rows = lanes.map((lane) =>
    [
      lane.name,
      lane.status,
      lane.durationMs,
      lane.inputTokens,
      lane.outputTokens,
      lane.costUsd,
      lane.estimatedUsd,
      lane.files.length,
      lane.commands.length,
      lane.commands.filter(({ exitCode = 0 }) => exitCode !== 0).length,
      lane.thread,
      lane.error ?? '',
    ].map(csvField),
  )
  return [columns, ...rows.map((row) => row.join(','))].map((row) => `${row}\r\n`).join('')
}

function csvField(value: string | number): string {
  if (typeof value === 'number') return String(value)
  // A spreadsheet would calculate a text that begins like a formula.
  const safe = /^[=+\-@\t\r]/.test(value) ? `'${value}` : value
  return /[",\r\n]/.test(safe) ? `"${safe.replaceAll('"', '""')}"` : safe
}

function asMarkdown(comparison: Comparison): string {
  const { columns, rows } = comparisonTable(comparison)
  const cells = (row: readonly string[]): string => `| ${row.map(markdownCell).join(' | ')} |`
  const lanes = comparison.lanes.flatMap((lane) => [
    '',
    `## ${lane.name}`,
    '',
    lane.answer.trim() === '' ? '_No answer._' : lane.answer.trim(),
    ...(lane.error === undefined ? [] : ['', `Error: ${lane.error}`]),
    ...(lane.files.length === 0 ? [] : ['', `Files: ${lane.files.map((file) => `\`${file}\``).join(', ')}`]),
    ...(lane.commands.length === 0 ? [] : ['', ...lane.commands.map(commandLine)]),
    ...(lane.diff === undefined || lane.diff === '' ? [] : ['', ...fenced('diff', lane.diff.trimEnd())]),
  ])
  const table = [cells(columns), cells(columns.map(() => '---')), ...rows.map(cells)]
  const asked = comparison.prompt.trim().split('\n')
  return [`# Comparison`, '', ...asked.map((each) => `> ${each}`), '', ...table, ...lanes, ''].join('\n')
}

function commandLine({ command, exitCode }: LaneReport['commands'][number]): string {
  return `- \`${command.replaceAll('\n', ' ')}\`${exitCode === undefined ? '' : ` (exit ${exitCode})`}`
}

function markdownCell(text: string): string {
  return text.replaceAll('|', String.raw`\|`).replaceAll('\n', ' ')
}

/** A fence that is longer than any in the text. */
function fenced(language: string, text: string): readonly string[] {
  const longest = Math.max(2, ...[...text.matchAll(/`{3,}/g)].map(([ticks]) => ticks.length))
  const fence = '`'.repeat(longest + 1)
  return [`${fence}${language}`, text, fence]
}
