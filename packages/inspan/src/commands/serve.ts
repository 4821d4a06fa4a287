import { execFile } from 'node:child_process'
import { once } from 'node:events'
import { statSync } from 'node:fs'
import { isAbsolute, join } from 'node:path'
import { promisify } from 'node:util'
import type { Harness, HarnessMode, Workspace } from '@inspan/core'
import { checkAgents } from '../check-agents.ts'
import { UsageError, type InspanCommand, type Terminal } from '../command.ts'
import { readConfig } from '../config-file.ts'
import { openStore } from '../data-file.ts'
import { homeOf } from '../home.ts'
import { openSharedStore } from '../shared-store.ts'
import { parseOnlyOptions } from '../parse-options.ts'
import { projectAt } from '../project.ts'
import { CLI_IDS, cliId, modesOf, type CliId } from '../served-modes.ts'
import { suggestion } from '../suggestion.ts'

export const serveCommand: InspanCommand = {
  name: 'serve',
  help: [
    'Usage: inspan serve [options]',
    '',
    'Serves conversations to browsers and programs on this machine, until it is ended. Without --model and --harness, and',
    'without an inspan.json that names one, it serves the built-in demo agent, the coding agents that can be used here,',
    'and our own loop if there is the key of a provider. Everything is stored in the database file, so a restart loses',
    'nothing. In a git repository, browsers can start conversations in worktrees of their own. What waits in your other',
    'project folders can be answered here, too.',
    '',
    '  --port <number>     the port (default: any free one; printed at the start)',
    '  --host <address>    the address to listen on (default: 127.0.0.1)',
    '  --allow-remote      allow an address that other machines can reach; put a TLS proxy in front',
    '  --allowed-host <name:port>',
    '                      a further name under which browsers reach the server. Can be repeated',
    '  --trust-proxy       believe the X-Forwarded-* headers of a proxy',
    '  --socket <path>     listen on a unix socket instead',
    '  --model <id>        our own loop with this model: provider/model',
    '  --harness <id>      a coding agent, as a mode of its own. Can be repeated:',
    `                      ${CLI_IDS.join(', ')}`,
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
  const isChosen = values.harness.length > 0 || values.model !== undefined
  const config = isChosen ? {} : await readConfig(terminal.cwd)
  const ids = config.harness === undefined ? values.harness.map(cliId) : [config.harness]
  // With a coding agent, the model of the config is one of its own.
  const model = values.model ?? (config.harness === undefined ? config.model : undefined)
  const [{ Harness: Made }, { serve }] = await Promise.all([import('@inspan/core'), import('@inspan/server')])
  if (values.store !== undefined && values.db !== undefined) throw new UsageError('--db and --store exclude each other')
  const shared = values.store ?? (values.db === undefined ? terminal.env['INSPAN_STORE'] : undefined)
  if (shared === undefined && values.label.length > 0) throw new UsageError('--label needs --store')
  const store = await (shared === undefined ? openStore(values.db, terminal) : openSharedStore(shared, values.label))
  const served = await servedBy(ids, model, terminal)
  if (served.remove !== undefined) await (await import('../demo-recordings.ts')).addRecordings(store, terminal.cwd)
  const harnesses: Harness[] = []
  const openProject = async (folder: string, { modes, workspace }: InFolder): Promise<Harness> => {
    const harness = new Made({
      id: 'inspan',
      resourceId: folder,
      storage: store,
      modes,
      workspace,
      project: await projectAt(folder, terminal),
      estimateCosts: true,
      permissions: { categories: { read: 'allow' } },
    })
    harnesses.push(harness)
    return harness
  }
  const harness = await openProject(terminal.cwd, served)
  try {
    const pages = values['no-page'] ? undefined : await pagesOf(terminal)
    const server = await serve({
      harness,
      port,
      ...(pages === undefined ? {} : { pages }),
      folders: [terminal.cwd],
      // Everything in the file of this user is theirs, whichever folder it belongs to.
      otherProjects: shared === undefined,
      ...(shared === undefined
        ? {
            projects: {
              has: (folder: string) => folder !== terminal.cwd && isFolder(folder),
              open: async (folder: string) => openProject(folder, await served.in(folder)),
            },
          }
        : {}),
      worktrees: await hasCommit(served.workspace.root),
      tokenFile: values['token-file'] ?? join(homeOf(terminal), 'server-tokens.json'),
      allowRemote: values['allow-remote'],
      allowedHosts: values['allowed-host'],
      trustProxy: values['trust-proxy'],
      ...(values.host === undefined ? {} : { host: values.host }),
      ...(values.socket === undefined ? {} : { socketPath: values.socket }),
    })
    terminal.err(offer(served, terminal))
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
    // Another machine continues what runs here.
    if (shared !== undefined) await harness.drain()
    return 0
  } finally {
    await Promise.all(harnesses.map((each) => each.destroy()))
    await store.close()
    await served.remove?.()
  }
}

interface ReachOptions {
  readonly 'allow-remote': boolean
  readonly 'allowed-host': readonly string[]
  readonly 'trust-proxy': boolean
}

/** Returns the address under which other devices reach the server; undefined if they cannot. */
export function addressForPhones(url: string, reach: ReachOptions): string | undefined {
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

/** What works in a folder. */
interface InFolder {
  readonly modes: HarnessMode[]
  readonly workspace: Workspace
}

interface Served extends InFolder {
  /** Whether nothing can be used here but the demo agent. */
  readonly isDemoOnly?: boolean
  /** Returns the same for another project. */
  readonly in: (folder: string) => Promise<InFolder>
  readonly remove?: () => Promise<void>
}

/** Without a model or a coding agent it is the demo agent, in a folder that goes with the server. */
async function servedBy(ids: readonly CliId[], model: string | undefined, terminal: Terminal): Promise<Served> {
  const { Workspace: Made } = await import('@inspan/core')
  const chosen = async (folder: string): Promise<InFolder> => ({
    modes: await modesOf(ids, model, { ...terminal, cwd: folder }),
    workspace: new Made({ root: folder }),
  })
  if (ids.length > 0 || model !== undefined) return { ...(await chosen(terminal.cwd)), in: chosen }
  const [{ demoFolder, folderDemo }, { usableModel }] = await Promise.all([
    import('../demo-folder.ts'),
    import('../native-agent.ts'),
  ])
  const { path, remove, worktrees } = await demoFolder()
  const thrownAway = new Made({ root: path, worktrees: { folder: worktrees } })
  // Models and coding agents that can be used here are offered, too. They work in the folder of the project.
  const [found, usable] = [await usableClis(terminal), usableModel(terminal)]
  const isAlone = found.length === 0 && usable === undefined
  const withDemo = async (folder: string): Promise<InFolder> => {
    const offered = isAlone ? [] : await modesOf(found, usable, { ...terminal, cwd: folder })
    const demo: HarnessMode = {
      id: 'demo',
      name: 'Demo',
      description: isAlone ? ALONE : 'Its words are scripted. It works in a throw-away folder and needs no key.',
      agent: isAlone ? folderDemo() : folderDemo(thrownAway),
    }
    return { modes: [demo, ...offered], workspace: isAlone ? thrownAway : new Made({ root: folder }) }
  }
  return { ...(await withDemo(terminal.cwd)), in: withDemo, isDemoOnly: isAlone, remove }
}

const ALONE =
  'This is the built-in demo agent: its words are scripted, its tools and files are real, in a throw-away folder. ' +
  'Install a coding agent or set the key of a provider, start the server again, and you can choose them here.'

/** Says who can be talked to, and what to do if that is only the demo agent. */
function offer({ isDemoOnly = false, modes }: Served, terminal: Terminal): string {
  if (!isDemoOnly) return `Agents: ${modes.map(({ id, name = id }) => name).join(', ')}`
  const [doctor, keys] = ['doctor', 'keys --all'].map((args) => suggestion(args, undefined, terminal))
  return `Only the demo agent can be used here. What others need: ${doctor} and ${keys}`
}

function isFolder(path: string): boolean {
  return isAbsolute(path) && statSync(path, { throwIfNoEntry: false })?.isDirectory() === true
}

/** Whether worktrees can be made of a folder: it is in a git repository that has a commit. */
async function hasCommit(folder: string): Promise<boolean> {
  const git = promisify(execFile)('git', ['-C', folder, 'rev-parse', '--verify', '--quiet', 'HEAD'])
  return git.then(
    () => true,
    () => false,
  )
}

async function usableClis(terminal: Terminal): Promise<readonly CliId[]> {
  const rows = await checkAgents(terminal)
  const usable = rows.filter(({ found, hasKey, problem }) => found && hasKey && problem === undefined)
  return CLI_IDS.filter((id) => usable.some((row) => row.id === id))
}
