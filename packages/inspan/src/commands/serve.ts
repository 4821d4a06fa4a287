import { once } from 'node:events'
import { join } from 'node:path'
import type { HarnessMode } from '@inspan/core'
import { UsageError, type Command, type Terminal } from '../command.ts'
import { openStore } from '../data-file.ts'
import { homeOf } from '../home.ts'
import { openSharedStore } from '../shared-store.ts'
import { parseOnlyOptions } from '../parse-options.ts'
import { Progress } from '../progress.ts'
import { HARNESS_IDS, harnessId, modesOf, type HarnessId } from '../served-modes.ts'

export const serveCommand: Command = {
  name: 'serve',
  help: [
    'Usage: inspan serve [options]',
    '',
    'Serves conversations to browsers and programs on this machine, until it is ended. Without --model and --harness it',
    'serves the built-in demo agent and the coding agents that can be used here. Everything is stored in the database file, so a restart loses nothing.',
    '',
    '  --port <number>     the port (default: any free one; printed at the start)',
    '  --host <address>    the address to listen on (default: 127.0.0.1)',
    '  --allow-remote      allow an address that other machines can reach; put a TLS proxy in front',
    '  --allowed-host <name:port>   a further name under which browsers reach the server. Can be repeated',
    '  --trust-proxy       believe the X-Forwarded-* headers of a proxy',
    '  --socket <path>     listen on a unix socket instead',
    '  --model <id>        our own loop with this model: provider/model',
    `  --harness <id>      a coding agent, as a mode of its own: ${HARNESS_IDS.join(', ')}. Can be repeated`,
    '  --no-page           serve only programs, not the web page',
    '  --code              print the one-time code for a browser also where the output is no terminal',
    '  --token-file <file> where the tokens are kept (default: ~/.inspan/server-tokens.json)',
    '  --db <file>         the database file (default: ~/.inspan/inspan.db)',
    '  --store <url>       a Postgres database instead, shared with other machines (or INSPAN_STORE)',
    '  --label <name>      something this machine has, e.g. a checkout: conversations begun here only go on where it is,',
    '                      too. Can be repeated; needs --store',
    '',
    'Examples:',
    '  inspan serve',
    '  inspan serve --harness claude-code --harness codex --port 4100',
    '  inspan serve --model anthropic/claude-sonnet-4-5',
  ].join('\n'),
  run,
}

async function run(args: readonly string[], terminal: Terminal): Promise<number> {
  const values = parseOnlyOptions(args, {
    port: { type: 'string', default: '0' },
    host: { type: 'string' },
    'allow-remote': { type: 'boolean', default: false },
    'allowed-host': { type: 'string', multiple: true, default: [] },
    'trust-proxy': { type: 'boolean', default: false },
    socket: { type: 'string' },
    model: { type: 'string' },
    harness: { type: 'string', multiple: true, default: [] },
    'no-page': { type: 'boolean', default: false },
    code: { type: 'boolean', default: false },
    'token-file': { type: 'string' },
    db: { type: 'string' },
    store: { type: 'string' },
    label: { type: 'string', multiple: true, default: [] },
  })
  const port = Number(values.port)
  if (!Number.isInteger(port) || port < 0 || port > 65_535) throw new UsageError('--port takes a number up to 65535')
  const ids = values.harness.map(harnessId)
  const [{ Harness, Workspace }, { serve }] = await Promise.all([import('@inspan/core'), import('@inspan/server')])
  const shared = values.store ?? terminal.env['INSPAN_STORE']
  if (shared !== undefined && values.db !== undefined) throw new UsageError('--db and --store exclude each other')
  if (shared === undefined && values.label.length > 0) throw new UsageError('--label needs --store')
  const store = await (shared === undefined ? openStore(values.db, terminal) : openSharedStore(shared, values.label))
  const served = await servedBy(ids, values.model, terminal)
  if (served.remove !== undefined) await (await import('../demo-recordings.ts')).addRecordings(store, terminal.cwd)
  const harness = new Harness({
    id: 'inspan',
    resourceId: terminal.cwd,
    storage: store,
    modes: served.modes,
    workspace: new Workspace({ root: served.folder }),
    permissions: { categories: { read: 'allow' } },
  })
  try {
    const pages = values['no-page'] ? undefined : await pagesOf(terminal)
    const server = await serve({
      harness,
      port,
      ...(pages === undefined ? {} : { pages }),
      folders: [terminal.cwd],
      tokenFile: values['token-file'] ?? join(homeOf(terminal), 'server-tokens.json'),
      allowRemote: values['allow-remote'],
      allowedHosts: values['allowed-host'],
      trustProxy: values['trust-proxy'],
      ...(values.host === undefined ? {} : { host: values.host }),
      ...(values.socket === undefined ? {} : { socketPath: values.socket }),
    })
    terminal.out(`Listening on ${server.url}`)
    // For a person at the terminal only: logs must hold nothing that opens the server.
    if (terminal.isTty || values.code) {
      const { code } = server.pair()
      terminal.out(`One-time code for a browser: ${code}`)
      if (pages !== undefined) terminal.out(`Open ${server.url}/#code=${code} (Ctrl-C ends it)`)
      const reachable = pages === undefined ? undefined : addressForPhones(server.url, values)
      if (reachable !== undefined) terminal.out(await pairingPicture(reachable, server.pair().code))
    }
    const ended = new AbortController()
    await Promise.race(ENDING.map((signal) => once(process, signal, { signal: ended.signal }).catch(() => undefined)))
    ended.abort()
    await server.close()
    // Another machine goes on with what runs here.
    if (shared !== undefined) await harness.drain()
    return 0
  } finally {
    await harness.destroy()
    await store.close()
    await served.remove?.()
  }
}

interface Reach {
  readonly 'allow-remote': boolean
  readonly 'allowed-host': readonly string[]
  readonly 'trust-proxy': boolean
}

/** Returns the address under which other devices reach the server; undefined if they cannot. */
export function addressForPhones(url: string, reach: Reach): string | undefined {
  const [name] = reach['allowed-host']
  if (name !== undefined) return `${reach['trust-proxy'] ? 'https' : 'http'}://${name}`
  return reach['allow-remote'] && !url.includes('//0.0.0.0:') && !url.includes('//[::]:') ? url : undefined
}

/** Returns a QR code that opens the page on a phone, with a one-time code of its own. */
async function pairingPicture(address: string, code: string): Promise<string> {
  const { renderUnicodeCompact } = await import('uqr')
  // The part after # stays in the browser, so no proxy can log it.
  const link = `${address}/#code=${code}`
  return `Scan this to pair a phone, once and within five minutes:\n${renderUnicodeCompact(link, { border: 2 })}`
}

async function pagesOf(terminal: Terminal): Promise<string> {
  const { preparedPages } = await import('@inspan/studio')
  return preparedPages(() => terminal.err('Building the web page …'))
}

const ENDING = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const

interface Served {
  readonly modes: HarnessMode[]
  /** The folder that agents work in. */
  readonly folder: string
  readonly remove?: () => Promise<void>
}

/** Without a model or a coding agent it is the demo agent, in a folder that goes with the server. */
async function servedBy(ids: readonly HarnessId[], model: string | undefined, terminal: Terminal): Promise<Served> {
  if (ids.length > 0 || model !== undefined) {
    return { modes: await modesOf(ids, model, terminal), folder: terminal.cwd }
  }
  const { demoFolder, folderDemo } = await import('../demo-folder.ts')
  const { path, remove } = await demoFolder()
  const description = 'Works in a throw-away folder; needs no key.'
  const demo: HarnessMode = { id: 'demo', name: 'Demo', description, agent: folderDemo() }
  // Coding agents that can be used here are offered, too. They work in the current folder.
  const found = await usableHarnesses(terminal)
  const offered = found.length === 0 ? [] : await modesOf(found, undefined, terminal)
  return { modes: [demo, ...offered], folder: path, remove }
}

async function usableHarnesses(terminal: Terminal): Promise<readonly HarnessId[]> {
  const { doctor, harnesses } = await import('@inspan/adapters/reading')
  using progress = new Progress(terminal)
  progress.show('Looking for coding agents …')
  const rows = await doctor(
    harnesses.map(({ profile }) => profile),
    terminal.env,
  )
  const usable = rows.filter(({ found, hasKey, problem }) => found && hasKey && problem === undefined)
  return HARNESS_IDS.filter((id) => usable.some((row) => row.id === id))
}
