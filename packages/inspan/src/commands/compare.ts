import { mkdir, writeFile } from 'node:fs/promises'
import { join, resolve } from 'node:path'
import { createInterface } from 'node:readline/promises'
import { text } from 'node:stream/consumers'
import type { Comparison, ComparisonFormat } from '@inspan/client/compare'
import { UsageError, type InspanCommand, type Terminal } from '../command.ts'
import { runLanes, type LaneAgent } from '../compare/lanes.ts'
import { CompareWorktrees } from '../compare/worktrees.ts'
import { homeOf } from '../home.ts'
import { parseOptions } from '../parse-options.ts'
import { dollarsOf, secondsOf } from '../run-limits.ts'
import { CLI_IDS, cliId } from '../served-modes.ts'
import { visible } from '@inspan/protocol/internal'

export const compareCommand: InspanCommand = {
  name: 'compare',
  help: [
    'Usage: inspan compare "<prompt>" --with <agent>,<agent>… [options]',
    '',
    'Gives one prompt to several agents and shows side by side what each did: time, tokens, cost, files, commands, exit.',
    'In a git repository every agent works in a worktree of its own, at the same time, and may edit files there; nothing',
    'here changes until you keep the changes of one. Elsewhere they work one after the other and may only read.',
    '',
    '  --with <agents>      two or more, with commas between them. A coding agent:',
    `                       ${CLI_IDS.join(', ')};`,
    '                       a model of our own loop: provider/model; or "demo"',
    '  --keep <agent>       make the changes of this agent here at the end. On a terminal you are asked instead',
    '  --allow <category>   also allow execute, mcp or other. Can be repeated. Everything that is not allowed is declined',
    '  --timeout <seconds>  end every run after this time (default: 1 hour)',
    '  --max-cost <dollars> end a run that has cost more, as far as its cost is known',
    '  --export <file>      write the comparison to a file: .md, .json or .csv',
    '  --db <file>          the database file (default: ~/.inspan/inspan.db)',
    '  --json               print the comparison as JSON',
    '',
    'Exit code 0 when every run is complete, else 1.',
    '',
    'Examples:',
    '  inspan compare "Fix the failing test" --with claude-code,codex,pi',
    '  inspan compare "Explain src/" --with anthropic/claude-sonnet-4-5,openai/gpt-5-mini --export result.md',
    '  inspan compare "Add a note" --with demo,codex --keep codex',
  ].join('\n'),
  run,
}

const ALLOWED = ['execute', 'mcp', 'other'] as const
const FORMATS: Readonly<Record<string, ComparisonFormat>> = { md: 'markdown', json: 'json', csv: 'csv' }

async function run(args: readonly string[], terminal: Terminal): Promise<number> {
  const { positionals, values } = parseOptions(args, {
    with: { type: 'string' },
    keep: { type: 'string' },
    allow: { type: 'string', multiple: true, default: [] },
    timeout: { type: 'string', default: '3600' },
    'max-cost': { type: 'string' },
    export: { type: 'string' },
    db: { type: 'string' },
    json: { type: 'boolean', default: false },
  })
  const words = positionals.length === 1 && positionals[0] === '-' ? await text(terminal.input) : positionals.join(' ')
  const prompt = words.trim()
  if (prompt === '') throw new UsageError('say what to do: inspan compare "Fix the test" --with claude-code,codex')
  const agents = agentsOf(values.with)
  const { keep } = values
  if (keep !== undefined && !agents.some(({ name }) => name === keep)) {
    throw new UsageError(`--keep takes one of ${agents.map(({ name }) => name).join(', ')}`)
  }
  const format = values.export === undefined ? undefined : formatOf(values.export)
  const allowed = values.allow.map(categoryCalled)
  const timeoutMs = secondsOf('--timeout', values.timeout)
  const maxCostUsd = values['max-cost'] === undefined ? Infinity : dollarsOf('--max-cost', values['max-cost'])

  const worktrees = await CompareWorktrees.open(terminal.cwd)
  try {
    if (worktrees === undefined) terminal.err('No git repository here: the agents work one after the other, read-only.')
    else {
      const untracked = await worktrees.untracked()
      if (untracked === 1) terminal.err('1 file that git does not track is not in the worktrees.')
      if (untracked > 1) terminal.err(`${untracked} files that git does not track are not in the worktrees.`)
    }
    if (keep !== undefined && worktrees === undefined) throw new UsageError('--keep needs a git repository')
    const comparison = await runLanes(
      { prompt, agents, allowed, timeoutMs, maxCostUsd, worktrees, db: values.db },
      terminal,
    )
    const { comparisonTable, exportComparison } = await import('@inspan/client/compare')
    if (values.json) terminal.write(exportComparison(comparison, 'json'))
    else for (const line of tableLines(comparisonTable(comparison))) terminal.out(visible(line))
    if (!values.json) await showDifferences(comparison, worktrees, terminal)
    if (values.export !== undefined && format !== undefined) {
      await writeFile(resolve(terminal.cwd, values.export), exportComparison(comparison, format))
      terminal.err(`Written to ${values.export}`)
    }
    if (worktrees !== undefined) await keepOne(comparison, worktrees, keep, terminal)
    return comparison.lanes.every(({ status }) => status === 'complete') ? 0 : 1
  } finally {
    await worktrees?.remove()
  }
}

function agentsOf(given: string | undefined): readonly LaneAgent[] {
  const names = (given ?? '').split(',').flatMap((name) => (name.trim() === '' ? [] : [name.trim()]))
  if (names.length < 2) throw new UsageError('--with takes two or more agents: --with claude-code,codex')
  if (new Set(names).size < names.length) throw new UsageError('--with names an agent twice')
  return names.map((name) => {
    if (name === 'demo') return { name }
    return name.includes('/') ? { name, model: name } : { name, cli: cliId(name) }
  })
}

function categoryCalled(name: string): (typeof ALLOWED)[number] {
  const category = ALLOWED.find((each) => each === name)
  if (category === undefined) throw new UsageError(`--allow takes one of ${ALLOWED.join(', ')}`)
  return category
}

function formatOf(file: string): ComparisonFormat {
  const format = FORMATS[file.split('.').at(-1) ?? '']
  if (format === undefined) throw new UsageError('--export takes a file that ends with .md, .json or .csv')
  return format
}

function tableLines({
  columns,
  rows,
}: {
  readonly columns: readonly string[]
  readonly rows: readonly (readonly string[])[]
}): readonly string[] {
  const all = [columns, ...rows]
  const widths = columns.map((_, index) => Math.max(...all.map((row) => row[index]?.length ?? 0)))
  return all.map((row) =>
    row
      .map((cell, index) => cell.padEnd(widths[index] ?? 0))
      .join('  ')
      .trimEnd(),
  )
}

/** Prints the answers, what each changed, and which lanes came to the same result. */
async function showDifferences(
  { lanes }: Comparison,
  worktrees: CompareWorktrees | undefined,
  terminal: Terminal,
): Promise<void> {
  for (const { answer, diff = '', error, name } of lanes) {
    terminal.out(visible(`\n── ${name}\n${(answer === '' ? (error ?? 'No answer.') : answer).trim()}`))
    if (diff !== '') terminal.out(visible(`\n${diff.trimEnd()}`))
  }
  if (worktrees === undefined) return
  terminal.out('')
  for (const [index, { name }] of lanes.entries()) {
    for (const { name: other } of lanes.slice(index + 1)) {
      const changed = [...(await worktrees.between(name, other)).matchAll(/^diff --git /gm)].length
      terminal.out(
        `${name} and ${other}: ${changed === 0 ? 'the same files' : changed === 1 ? '1 file differs' : `${changed} files differ`}`,
      )
    }
  }
}

/** Keeps every patch, so that dropping the worktrees loses nothing, and makes the changes of one of them here. */
async function keepOne(
  { lanes }: Comparison,
  worktrees: CompareWorktrees,
  keep: string | undefined,
  terminal: Terminal,
): Promise<void> {
  const changed = lanes.filter(({ diff = '' }) => diff !== '')
  if (changed.length === 0) return
  const folder = join(homeOf(terminal), 'comparisons', lanes[0]?.thread ?? 'comparison')
  await mkdir(folder, { recursive: true, mode: 0o700 })
  for (const { diff = '', name } of changed) await writeFile(patchFile(folder, name), diff, { mode: 0o600 })
  const chosen =
    keep ??
    (await askWhich(
      changed.map(({ name }) => name),
      terminal,
    ))
  const kept = lanes.find(({ name }) => name === chosen)
  if (kept === undefined) {
    terminal.err(`\nNothing was changed here. To keep one: git apply ${patchFile(folder, '<agent>')}`)
    return
  }
  await worktrees.keep(kept.diff ?? '')
  terminal.err(`\nThe changes of ${kept.name} were made here. The patches of all are in ${folder}`)
}

function patchFile(folder: string, name: string): string {
  return join(folder, `${name.replaceAll('/', '_')}.patch`)
}

async function askWhich(names: readonly string[], terminal: Terminal): Promise<string | undefined> {
  if (!terminal.isTty || !('isTTY' in terminal.input) || terminal.input.isTTY !== true) return undefined
  using lines = createInterface({ input: terminal.input })
  terminal.write(`\nKeep the changes of which one? (${names.join(', ')}; nothing drops all) `)
  const ended = new Promise<undefined>((end) => lines.once('close', () => end(undefined)))
  return (await Promise.race([lines.question(''), ended]))?.trim()
}
