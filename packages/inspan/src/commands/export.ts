import { writeFile } from 'node:fs/promises'
import { resolve } from 'node:path'
import { EXPORT_FORMATS, type ExportFormat } from '@inspan/client/export'
import { InspanError } from '@inspan/protocol'
import { UsageError, type InspanCommand, type Terminal } from '../command.ts'
import { openExistingStore } from '../data-file.ts'
import { exportThread } from '../export-thread.ts'
import { parseOptions } from '../parse-options.ts'
import { Progress } from '../progress.ts'
import { findThread } from '../read-thread.ts'

const ENDINGS: Readonly<Record<string, ExportFormat>> = { html: 'html', htm: 'html', md: 'markdown', json: 'json' }

export const exportCommand: InspanCommand = {
  name: 'export',
  help: [
    'Usage: inspan export <thread> [options]',
    '',
    'Writes a conversation to a file, or to standard output. HTML is one file that needs nothing from the network.',
    '',
    `  --format <name>  ${EXPORT_FORMATS.join(', ')} (default: by the ending of the file, else markdown)`,
    '  --output <file>  the file to write',
    '  --redact         leave out what looks like a key or a password',
    '  --db <file>      the database file (default: ~/.inspan/inspan.db)',
    '',
    'Examples:',
    '  inspan export 4k2x --output review.html',
    '  inspan export 4k2x --format json | jq .messages',
  ].join('\n'),
  run,
}

async function run(args: readonly string[], terminal: Terminal): Promise<number> {
  const { positionals, values } = parseOptions(args, {
    format: { type: 'string' },
    output: { type: 'string' },
    redact: { type: 'boolean', default: false },
    db: { type: 'string' },
  })
  const [given] = positionals
  if (given === undefined || positionals.length > 1) throw new UsageError('name one thread: inspan threads lists them')
  const format = formatOf(values.format, values.output)
  const store = await openExistingStore(values.db, terminal)
  using progress = new Progress(terminal)
  progress.show('Reading the conversation …')
  let text: string
  try {
    text = await exportThread(store, await findThread(store, given), format)
  } finally {
    await store.close()
  }
  if (values.redact) {
    const { redactSecrets } = await import('@inspan/core')
    text = redactSecrets()(text)
  }
  if (values.output === undefined) {
    terminal.write(text)
    return 0
  }
  try {
    // A conversation may contain anything, so only its owner can read it.
    await writeFile(resolve(terminal.cwd, values.output), text, { mode: 0o600 })
  } catch (error) {
    throw new InspanError('io', `${values.output} cannot be written.`, { cause: error })
  }
  terminal.err(`Written to ${values.output}`)
  return 0
}

function formatOf(given: string | undefined, file: string | undefined): ExportFormat {
  if (given === undefined) return ENDINGS[file?.split('.').at(-1) ?? ''] ?? 'markdown'
  const format = EXPORT_FORMATS.find((each) => each === given)
  if (format === undefined) throw new UsageError(`--format takes one of ${EXPORT_FORMATS.join(', ')}`)
  return format
}
