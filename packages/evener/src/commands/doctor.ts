import { existsSync } from 'node:fs'
import { parseArgs } from 'node:util'
import { doctor, harnesses, type DoctorRow } from '@evener/adapters/reading'
import { EvenerError } from '@evener/protocol'
import { whatEscapes } from '@evener/shell/run'
import type { Command, Terminal } from '../command.ts'
import { dataFile, openExistingStore } from '../data-file.ts'

export const doctorCommand: Command = {
  name: 'doctor',
  help: [
    'Usage: evener doctor [options]',
    '',
    'Looks for every coding agent that can be driven: is it there, in which version, is that one known to work,',
    'is its key set, and if not, what to do. Reads the whole file in which conversations are kept, if there is one.',
    'Says what of a run cannot be ended on this machine, if there is anything.',
    'Exit code 0 when at least one agent can be used and the file is not damaged.',
    '',
    '  --db <file>  the file (default: ~/.evener/evener.db)',
    '  --json       print one line of JSON for each agent, one for the file, and one for what cannot be ended',
  ].join('\n'),
  run,
}

async function run(args: readonly string[], terminal: Terminal): Promise<number> {
  const { values } = parseArgs({
    args: [...args],
    options: { json: { type: 'boolean', default: false }, db: { type: 'string' } },
  })
  const rows = await doctor(
    harnesses.map((harness) => harness.profile),
    terminal.env,
  )
  for (const row of rows) terminal.out(values.json ? JSON.stringify(row) : describe(row))
  const file = await examineFile(values.db, terminal)
  if (file !== undefined) terminal.out(values.json ? JSON.stringify(file) : describeFile(file))
  const escapes = await whatEscapes()
  if (escapes !== undefined) terminal.out(values.json ? JSON.stringify({ warning: escapes }) : `! ${escapes}`)
  return rows.some((row) => row.found && row.hasKey) && (file?.damage ?? []).length === 0 ? 0 : 1
}

interface FileRow {
  readonly file: string
  readonly damage: readonly string[]
}

/** Nothing when nothing was kept yet; a file that was named has to be there. */
async function examineFile(option: string | undefined, terminal: Terminal): Promise<FileRow | undefined> {
  const file = dataFile(option, terminal)
  if (option === undefined && !existsSync(file)) return undefined
  const store = await openExistingStore(option, terminal)
  try {
    return { file, damage: await store.check() }
  } catch (error) {
    // Not a database of ours, or one that cannot be read at all.
    if (!EvenerError.is(error)) throw error
    return { file, damage: [error.message] }
  } finally {
    await store.close()
  }
}

function describeFile({ file, damage }: FileRow): string {
  if (damage.length === 0) return `✓ ${file}: whole`
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
