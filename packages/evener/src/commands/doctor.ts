import { parseArgs } from 'node:util'
import { doctor, harnesses, type DoctorRow } from '@evener/adapters'
import type { Command, Terminal } from '../command.ts'

export const doctorCommand: Command = {
  name: 'doctor',
  summary: 'say which coding agents can be used here',
  help: [
    'Usage: evener doctor [options]',
    '',
    'Looks for every coding agent that can be driven: is it there, in which version, is that one known to work,',
    'is its key set, and if not, what to do. Exit code 0 when at least one can be used.',
    '',
    '  --json  print one line of JSON for each',
  ].join('\n'),
  run,
}

async function run(args: readonly string[], terminal: Terminal): Promise<number> {
  const { values } = parseArgs({ args: [...args], options: { json: { type: 'boolean', default: false } } })
  const rows = await doctor(
    harnesses.map((harness) => harness.profile),
    terminal.env,
  )
  for (const row of rows) terminal.out(values.json ? JSON.stringify(row) : describe(row))
  return rows.some((row) => row.found && row.hasKey) ? 0 : 1
}

function describe(row: DoctorRow): string {
  const version = row.version === undefined ? '' : ` ${row.version}`
  const known = row.isKnown || row.tested === undefined ? '' : ` (tested with ${row.tested})`
  if (!row.found) return `✗ ${row.id}: not found. Install it: ${row.install}`
  if (row.problem !== undefined) return `✗ ${row.id}${version}: ${row.problem}`
  return row.hasKey ? `✓ ${row.id}${version}${known}` : `✗ ${row.id}${version}${known}: no key. ${row.key}`
}
