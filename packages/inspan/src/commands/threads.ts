import { UsageError, type Command, type Terminal } from '../command.ts'
import { openExistingStore } from '../data-file.ts'
import { oneLine } from '../one-line.ts'
import { parseOnlyOptions } from '../parse-options.ts'
import { visible } from '../visible-text.ts'

export const threadsCommand: Command = {
  name: 'threads',
  help: [
    'Usage: inspan threads [options]',
    '',
    'Lists the conversations of this folder, newest first.',
    '',
    '  --all        list the conversations of every folder',
    '  --limit <n>  how many at most (default: 20)',
    '  --db <file>  the database file (default: ~/.inspan/inspan.db)',
    '  --json       print them as lines of JSON',
  ].join('\n'),
  run,
}

async function run(args: readonly string[], terminal: Terminal): Promise<number> {
  const values = parseOnlyOptions(args, {
    all: { type: 'boolean', default: false },
    limit: { type: 'string', default: '20' },
    db: { type: 'string' },
    json: { type: 'boolean', default: false },
  })
  const limit = Number(values.limit)
  if (!Number.isInteger(limit) || limit < 1 || limit > 1000)
    throw new UsageError('--limit takes a number from 1 to 1000')
  const store = await openExistingStore(values.db, terminal)
  try {
    const page = await store.listThreads({ limit, ...(values.all ? {} : { resourceId: terminal.cwd }) })
    for (const thread of page.items) {
      terminal.out(
        values.json
          ? JSON.stringify(thread)
          : `${thread.id}  ${localTime(thread.updatedAt)}  ${oneLine(visible(thread.title ?? ''))}`,
      )
    }
    if (page.items.length === 0 && !values.json)
      terminal.err('Nothing recorded here yet: inspan run "…" starts a conversation.')
    return 0
  } finally {
    await store.close()
  }
}

/** As on the clock on the wall, sortable. */
function localTime(at: number): string {
  const shifted = new Date(at - new Date(at).getTimezoneOffset() * 60_000)
  return shifted.toISOString().slice(0, 16).replace('T', ' ')
}
