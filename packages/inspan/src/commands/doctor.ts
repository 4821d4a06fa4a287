import { existsSync } from 'node:fs'
import { delimiter, join } from 'node:path'
import type { DoctorRow } from '@inspan/adapters/reading'
import { InspanError } from '@inspan/protocol'
import { whatEscapes } from '@inspan/shell/run'
import { checkAgents } from '../check-agents.ts'
import type { InspanCommand, Terminal } from '../command.ts'
import { parseOnlyOptions } from '../parse-options.ts'
import { dataFile, openExistingStore } from '../data-file.ts'
import { Progress } from '../progress.ts'

export const doctorCommand: InspanCommand = {
  name: 'doctor',
  help: [
    'Usage: inspan doctor [options]',
    '',
    'Checks every supported coding agent: whether it is installed, in which version, whether that version was tested,',
    'and whether a key is set; if not, says what to do. Checks the whole database file, if there is one.',
    'Warns if some processes of a run could not be ended on this machine, or commands not be contained.',
    'Exit code 0 when at least one agent can be used and the file is not damaged.',
    '',
    '  --db <file>  the database file (default: ~/.inspan/inspan.db)',
    '  --json       print one line of JSON for each agent, one for the file, and one for the warning',
    '',
    'Examples:',
    '  inspan doctor',
    "  inspan doctor --json | jq -r 'select(.found) | .id'",
  ].join('\n'),
  run,
}

async function run(args: readonly string[], terminal: Terminal): Promise<number> {
  const values = parseOnlyOptions(args, { json: { type: 'boolean', default: false }, db: { type: 'string' } })
  const rows = await checkAgents(terminal)
  for (const row of rows) terminal.out(values.json ? JSON.stringify(row) : describe(row))
  const file = await examineFile(values.db, terminal)
  if (file !== undefined) terminal.out(values.json ? JSON.stringify(file) : describeFile(file))
  const uncontained = hasProgram('bwrap', terminal.env['PATH']) ? undefined : UNCONTAINED
  if (uncontained !== undefined)
    terminal.out(values.json ? JSON.stringify({ warning: uncontained }) : `! ${uncontained}`)
  const escapes = await whatEscapes()
  if (escapes !== undefined) terminal.out(values.json ? JSON.stringify({ warning: escapes }) : `! ${escapes}`)
  return rows.some((row) => row.found && row.hasKey) && (file?.damage ?? []).length === 0 ? 0 : 1
}

const UNCONTAINED =
  'bubblewrap (bwrap) is not installed: commands of a workspace cannot be contained, so they can do whatever this program can.'

function hasProgram(name: string, path: string | undefined): boolean {
  return (path ?? '').split(delimiter).some((folder) => folder !== '' && existsSync(join(folder, name)))
}

interface FileRow {
  readonly file: string
  readonly damage: readonly string[]
}

/** Returns undefined when there is no data file yet. A file given by option has to exist. */
async function examineFile(option: string | undefined, terminal: Terminal): Promise<FileRow | undefined> {
  const file = dataFile(option, terminal)
  if (option === undefined && !existsSync(file)) return undefined
  const store = await openExistingStore(option, terminal)
  using progress = new Progress(terminal)
  progress.showNow(`Checking ${file} …`)
  try {
    return { file, damage: await store.check() }
  } catch (error) {
    // The file is not a database of ours, or cannot be read at all.
    if (!InspanError.is(error)) throw error
    return { file, damage: [error.message] }
  } finally {
    await store.close()
  }
}

function describeFile({ file, damage }: FileRow): string {
  if (damage.length === 0) return `✓ ${file}: not damaged`
  return [`✗ ${file}: cannot be relied on. Restore it from a backup.`, ...damage.map((text) => `    ${text}`)].join(
    '\n',
  )
}

function describe(row: DoctorRow): string {
  const version = row.version === undefined ? '' : ` ${row.version}`
  const known = row.isKnown || row.tested === undefined ? '' : ` (tested with ${row.tested})`
  if (row.reason === 'not-installed') return `✗ ${row.id}: not found. Install it: ${row.install}`
  if (row.problem !== undefined) return `✗ ${row.id}${version}: ${row.problem}`
  return row.hasKey ? `✓ ${row.id}${version}${known}` : `✗ ${row.id}${version}${known}: no key. ${row.key}`
}
