import type { Store } from '@inspan/protocol/store'
import type { ServerContext } from '../context.ts'
import { requireOwner, type App } from './app-types.ts'

/** How long the store has to answer before the server counts as not ready. */
const READY_MS = 2000
/** Counting stops here: a metric must not read a whole table. */
const MOST_COUNTED = 1000

/** For whoever runs the server: whether it lives, whether it can serve, and numbers to watch. */
export function addOperationRoutes(app: App, { hub, locals }: ServerContext): void {
  const { store } = hub.door

  app.get('/v1/health', (c) => c.json({ status: 'ok' }))

  app.get('/v1/ready', async (c) => {
    const isReady = !hub.isClosed && (await answersInTime(store))
    return c.json({ status: isReady ? 'ready' : 'not ready' }, isReady ? 200 : 503)
  })

  app.get('/v1/metrics', async (c) => {
    // Counts of all tenants.
    requireOwner(c.get('caller'))
    const [commands, waits] = await Promise.all([
      store.listCommands({ state: 'accepted', limit: MOST_COUNTED }),
      store.listWaits({ state: 'pending', limit: MOST_COUNTED }),
    ])
    const { heapUsed, rss } = process.memoryUsage()
    const cpu = process.cpuUsage()
    const metrics: readonly Metric[] = [
      ['inspan_threads_open', 'gauge', 'Threads that this server has open.', hub.openThreads],
      ['inspan_local_clients', 'gauge', 'Clients in the process of the server.', locals.size],
      [
        'inspan_commands_accepted',
        'gauge',
        'Commands that wait to be carried out, at most 1000.',
        commands.items.length,
      ],
      ['inspan_waits_pending', 'gauge', 'Questions and other waits that are open, at most 1000.', waits.items.length],
      ['process_cpu_seconds_total', 'counter', 'CPU time of the process.', (cpu.user + cpu.system) / 1e6],
      ['process_resident_memory_bytes', 'gauge', 'Memory of the process.', rss],
      ['nodejs_heap_size_used_bytes', 'gauge', 'Heap in use.', heapUsed],
      ['process_uptime_seconds', 'gauge', 'Time since the process started.', process.uptime()],
    ]
    return c.body(prometheusText(metrics), 200, { 'content-type': 'text/plain; version=0.0.4; charset=utf-8' })
  })
}

type Metric = readonly [name: string, type: 'gauge' | 'counter', help: string, value: number]

function prometheusText(metrics: readonly Metric[]): string {
  return metrics
    .map(([name, type, help, value]) => `# HELP ${name} ${help}\n# TYPE ${name} ${type}\n${name} ${value}\n`)
    .join('')
}

async function answersInTime(store: Store): Promise<boolean> {
  const late = Promise.withResolvers<boolean>()
  const timer = setTimeout(() => late.resolve(false), READY_MS)
  const answered = store.listOwners({ limit: 1 }).then(
    () => true,
    () => false,
  )
  const isReady = await Promise.race([answered, late.promise])
  clearTimeout(timer)
  return isReady
}
