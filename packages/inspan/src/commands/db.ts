import { UsageError, type Command, type Terminal } from '../command.ts'
import { parseOnlyOptions } from '../parse-options.ts'
import { openSharedStore } from '../shared-store.ts'

const MOST_COUNTED = 1000

export const dbCommand: Command = {
  name: 'db',
  help: [
    'Usage: inspan db migrate|status --store <url>',
    '',
    'Prepares a Postgres database that several machines share, or shows what goes on in it. Machines of the release',
    'before may keep running while it is migrated.',
    '',
    '  --store <url>   postgres://user:password@host:5432/database (default: INSPAN_STORE)',
    '  --json          print the status as JSON',
    '',
    'Examples:',
    '  inspan db migrate --store postgres://inspan@db.example/inspan',
    '  INSPAN_STORE=postgres://inspan@db.example/inspan inspan db status',
  ].join('\n'),
  run,
}

async function run([action, ...args]: readonly string[], terminal: Terminal): Promise<number> {
  if (action !== 'migrate' && action !== 'status') throw new UsageError('inspan db needs "migrate" or "status"')
  const values = parseOnlyOptions(args, { store: { type: 'string' }, json: { type: 'boolean', default: false } })
  const url = values.store ?? terminal.env['INSPAN_STORE']
  if (url === undefined) throw new UsageError('name the database with --store or INSPAN_STORE')
  // Opening migrates.
  const store = await openSharedStore(url)
  try {
    if (action === 'migrate') {
      terminal.out('The database is up to date.')
      return 0
    }
    const [owners, commands, waits] = await Promise.all([
      store.listOwners({ limit: MOST_COUNTED }),
      store.listCommands({ state: 'accepted', limit: MOST_COUNTED }),
      store.listWaits({ state: 'pending', limit: MOST_COUNTED }),
    ])
    const machines = owners.items.map(({ host, id, pid }) => ({ host, pid, owner: id }))
    const status = { machines, commands: commands.items.length, waits: waits.items.length }
    if (values.json) terminal.out(JSON.stringify(status))
    else {
      for (const { host, pid } of machines) terminal.out(`process ${pid} on ${host}`)
      terminal.out(`${machines.length} processes, ${status.commands} commands to carry out, ${status.waits} open waits`)
    }
    return 0
  } finally {
    await store.close()
  }
}
