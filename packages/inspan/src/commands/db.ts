import { UsageError, type InspanCommand, type Terminal } from '../command.ts'
import type { DatabaseStatus, MachineStatus, PostgresStore, Tenant } from '@inspan/postgres'
import { parseOptions } from '../parse-options.ts'
import { Progress } from '../progress.ts'
import { openSharedStore, sharedStatus } from '../shared-store.ts'

/** A machine that was silent for longer is dead for the others. */
const ALIVE_MS = 6000
const DAY_MS = 24 * 60 * 60 * 1000
const ACTIONS = ['migrate', 'status', 'tenants', 'tenant'] as const

export const dbCommand: InspanCommand = {
  name: 'db',
  help: [
    'Usage: inspan db migrate|status|tenants --store <url>',
    '       inspan db tenant <resource id> [quotas] --store <url>',
    '',
    'Prepares a Postgres database that several machines share, or shows what goes on in it. Machines of the release',
    'before may keep running while it is migrated. "status" changes nothing, and fails if this release cannot work on',
    'the tables. "tenant" sets everything about one resource id anew.',
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
  if (!ACTIONS.some((each) => each === action)) throw new UsageError(`it needs one of ${ACTIONS.join(', ')}`)
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
  if (action === 'status') return showStatus(await readStatus(url, terminal), values.json, terminal)
  const before = action === 'migrate' ? await readStatus(url, terminal) : undefined
  const store = await opened(url, terminal)
  try {
    if (before !== undefined) {
      terminal.out(migrated(before))
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
    const tenants = await store.listTenants()
    for (const tenant of tenants) terminal.out(values.json ? JSON.stringify(tenant) : described(tenant))
    if (tenants.length === 0 && !values.json) terminal.err('No tenant has settings: "inspan db tenant" makes some.')
    return 0
  } finally {
    await store.close()
  }
}

async function readStatus(url: string, terminal: Terminal): Promise<DatabaseStatus> {
  using progress = new Progress(terminal)
  progress.show('Connecting to the database …')
  return await sharedStatus(url)
}

/** Opening migrates, which takes a while if there is much to rewrite. */
async function opened(url: string, terminal: Terminal): Promise<PostgresStore> {
  using progress = new Progress(terminal)
  progress.show('Preparing the database …')
  return await openSharedStore(url)
}

function showStatus(status: DatabaseStatus, asJson: boolean, terminal: Terminal): number {
  const { commands, isUsable, known, layout, machines, waits } = status
  if (asJson) terminal.out(JSON.stringify(status))
  else if (layout === null)
    terminal.out('There are no tables yet: "inspan db migrate" creates them, and so does "inspan serve".')
  else if (!isUsable)
    terminal.out(`The tables have layout ${layout}, and this release knows ${known}: upgrade @inspan/postgres.`)
  else {
    for (const machine of machines) terminal.out(shown(machine))
    terminal.out(
      `${counted(machines.length, 'process', 'processes')}, ${counted(commands, 'command')} to carry out, ` +
        `${counted(waits, 'open wait')}, ${layoutOf(layout, known)}`,
    )
  }
  return layout !== null && isUsable ? 0 : 1
}

function migrated({ known, layout }: DatabaseStatus): string {
  if (layout === null) return 'The tables were created.'
  return layout < known ? `The tables were migrated from layout ${layout} to ${known}.` : 'The database is up to date.'
}

function shown({ host, pid, silentMs, threads }: MachineStatus): string {
  const silence = silentMs > ALIVE_MS ? `, silent for ${Math.round(silentMs / 1000)} s: dead, or cut off` : ''
  return `process ${pid} on ${host}  ${counted(threads, 'thread')}${silence}`
}

function layoutOf(layout: number, known: number): string {
  if (layout < known) return `layout ${layout}: "inspan db migrate" brings ${known}`
  return layout > known ? `layout ${layout}, on which this release still works` : `layout ${layout}`
}

function counted(count: number, one: string, many = `${one}s`): string {
  return `${count} ${count === 1 ? one : many}`
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
