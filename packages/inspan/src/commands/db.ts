import { UsageError, type InspanCommand, type Terminal } from '../command.ts'
import type { PostgresStore, Tenant } from '@inspan/postgres'
import { parseOptions } from '../parse-options.ts'
import { Progress } from '../progress.ts'
import { openSharedStore } from '../shared-store.ts'

const MOST_COUNTED = 1000
const DAY_MS = 24 * 60 * 60 * 1000
const ACTIONS = ['migrate', 'status', 'tenants', 'tenant'] as const

export const dbCommand: InspanCommand = {
  name: 'db',
  help: [
    'Usage: inspan db migrate|status|tenants --store <url>',
    '       inspan db tenant <resource id> [quotas] --store <url>',
    '',
    'Prepares a Postgres database that several machines share, or shows what goes on in it. Machines of the release',
    'before may keep running while it is migrated. "tenant" sets everything about one resource id anew.',
    '',
    '  --store <url>        postgres://user:password@host:5432/database (default: INSPAN_STORE)',
    '  --json               print the status or the tenants as JSON',
    '  --role <name>        a login role of Postgres that sees only the threads of this tenant',
    '  --max-threads <n>    threads the tenant may have',
    '  --max-commands <n>   commands that may wait to be carried out',
    '  --max-bytes <n>      what may have been written to its threads',
    '  --keep-days <n>      threads that have not changed for longer are deleted',
    '',
    'Examples:',
    '  inspan db migrate --store postgres://inspan@db.example/inspan',
    '  INSPAN_STORE=postgres://inspan@db.example/inspan inspan db status',
  ].join('\n'),
  run,
}

async function run([action, ...args]: readonly string[], terminal: Terminal): Promise<number> {
  if (!ACTIONS.some((each) => each === action)) throw new UsageError(`inspan db needs one of ${ACTIONS.join(', ')}`)
  const { positionals, values } = parseOptions(args, {
    store: { type: 'string' },
    json: { type: 'boolean', default: false },
    role: { type: 'string' },
    'max-threads': { type: 'string' },
    'max-commands': { type: 'string' },
    'max-bytes': { type: 'string' },
    'keep-days': { type: 'string' },
  })
  const [resourceId, extra = action === 'tenant' ? undefined : resourceId] = positionals
  if (extra !== undefined) throw new UsageError(`"${extra}" is not understood here`)
  if (action === 'tenant' && resourceId === undefined) throw new UsageError('inspan db tenant needs a resource id')
  const url = values.store ?? terminal.env['INSPAN_STORE']
  if (url === undefined) throw new UsageError('name the database with --store or INSPAN_STORE')
  const store = await opened(url, terminal)
  try {
    if (action === 'migrate') {
      terminal.out('The database is up to date.')
      return 0
    }
    if (resourceId !== undefined) {
      const days = countOf('--keep-days', values['keep-days'])
      const maxThreads = countOf('--max-threads', values['max-threads'])
      const maxCommands = countOf('--max-commands', values['max-commands'])
      const maxBytes = countOf('--max-bytes', values['max-bytes'])
      await store.setTenant({
        resourceId,
        ...(values.role === undefined ? {} : { role: values.role }),
        ...(maxThreads === undefined ? {} : { maxThreads }),
        ...(maxCommands === undefined ? {} : { maxCommands }),
        ...(maxBytes === undefined ? {} : { maxBytes }),
        ...(days === undefined ? {} : { keepMs: days * DAY_MS }),
      })
      terminal.out(`The tenant ${resourceId} is set.`)
      return 0
    }
    if (action === 'tenants') {
      for (const tenant of await store.listTenants())
        terminal.out(values.json ? JSON.stringify(tenant) : described(tenant))
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

/** Opening migrates, which takes a while if there is much to rewrite. */
async function opened(url: string, terminal: Terminal): Promise<PostgresStore> {
  using progress = new Progress(terminal)
  progress.show('Preparing the database …')
  return await openSharedStore(url)
}

function countOf(option: string, text: string | undefined): number | undefined {
  if (text === undefined) return undefined
  const count = Number(text)
  if (!Number.isSafeInteger(count) || count < 0 || text === '') throw new UsageError(`${option} takes a whole number`)
  return count
}

function described({ keepMs, maxBytes, maxCommands, maxThreads, resourceId, role }: Tenant): string {
  const facts = [
    role === undefined ? undefined : `role ${role}`,
    maxThreads === undefined ? undefined : `${maxThreads} threads`,
    maxCommands === undefined ? undefined : `${maxCommands} commands`,
    maxBytes === undefined ? undefined : `${maxBytes} bytes`,
    keepMs === undefined ? undefined : `kept for ${keepMs / DAY_MS} days`,
  ]
  return [resourceId, ...facts.filter((fact) => fact !== undefined)].join('  ')
}
