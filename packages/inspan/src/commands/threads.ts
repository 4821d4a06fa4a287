import type { Store } from '@inspan/protocol/store'
import { UsageError, type InspanCommand, type Terminal } from '../command.ts'
import { openExistingStore } from '../data-file.ts'
import { localTime } from '../local-time.ts'
import { oneLine } from '../one-line.ts'
import { parseOptions } from '../parse-options.ts'
import { Progress } from '../progress.ts'
import { openPreparedStore } from '../shared-store.ts'
import { visible } from '@inspan/protocol/internal'
import { showThread } from './thread-show.ts'

export const threadsCommand: InspanCommand = {
  name: 'threads',
  help: [
    'Usage: inspan threads [options]',
    '       inspan threads show <id> [options]',
    '',
    'Lists the conversations of this folder, newest first. "show" shows who works on one, which commands it has not',
    'carried out yet, and what it waits for.',
    '',
    '  --all          list the conversations of every folder',
    '  --limit <n>    how many at most (default: 20)',
    '  --db <file>    the database file (default: ~/.inspan/inspan.db)',
    '  --store <url>  a Postgres database instead, shared with other machines (or INSPAN_STORE)',
    '  --json         print them as lines of JSON',
    '',
    'Examples:',
    '  inspan threads --all --limit 50',
    '  inspan threads show 4k2x                            the end of its id is enough',
    "  inspan threads --json | jq -r '.title'",
  ].join('\n'),
  run,
}

async function run(args: readonly string[], terminal: Terminal): Promise<number> {
  const { positionals, values } = parseOptions(args, {
    all: { type: 'boolean', default: false },
    limit: { type: 'string', default: '20' },
    db: { type: 'string' },
    store: { type: 'string' },
    json: { type: 'boolean', default: false },
  })
  const limit = Number(values.limit)
  if (!Number.isInteger(limit) || limit < 1 || limit > 1000)
    throw new UsageError('--limit takes a number from 1 to 1000')
  const [action, shown, extra] = positionals
  if (action !== undefined && action !== 'show') throw new UsageError(`"${action}" is not understood here`)
  if (action === 'show' && shown === undefined) throw new UsageError('inspan threads show needs the id of a thread')
  if (extra !== undefined) throw new UsageError(`"${extra}" is not understood here`)
  const store = await opened(values, terminal)
  try {
    if (shown !== undefined) {
      await showThread(store, shown, values.json, terminal)
      return 0
    }
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

async function opened(
  { db, store }: { readonly db?: string | undefined; readonly store?: string | undefined },
  terminal: Terminal,
): Promise<Store> {
  if (db !== undefined && store !== undefined) throw new UsageError('--db and --store exclude each other')
  const shared = store ?? (db === undefined ? terminal.env['INSPAN_STORE'] : undefined)
  if (shared === undefined) return openExistingStore(db, terminal)
  using progress = new Progress(terminal)
  progress.show('Connecting to the database …')
  return await openPreparedStore(shared)
}
