import { readFile } from 'node:fs/promises'
import { resolve } from 'node:path'
import { InspanError } from '@inspan/protocol'
import type { Client, Transport } from '@inspan/client'
import type { LocalServer } from '../chat/local-server.ts'
import { UsageError, type InspanCommand, type Terminal } from '../command.ts'
import { readConfig } from '../config-file.ts'
import { parseOnlyOptions } from '../parse-options.ts'
import { CLI_IDS, cliId } from '../served-modes.ts'

/** The newest messages of a thread that are followed and drawn, so that a long one costs no more than a short one. */
const WINDOW = 100

export const chatCommand: InspanCommand = {
  name: 'chat',
  help: [
    'Usage: inspan chat [options]',
    '',
    'Talks with an agent in this terminal. Without --model, --harness and --connect it is the built-in demo agent.',
    'Everything is stored in the database file: --continue continues the last conversation of this folder.',
    '',
    '  --model <id>          our own loop with this model: provider/model. Its tools work in the current folder',
    `  --harness <id>        a coding agent: ${CLI_IDS.join(', ')}`,
    '  --continue            continue the newest thread instead of starting a new one',
    '  --thread <id>         continue this thread',
    '  --session <id>        continue a conversation that a coding agent has kept ("inspan sessions" lists them)',
    '  --connect <url>       talk to a running "inspan serve": http://127.0.0.1:PORT',
    '  --token-file <file>   the token for --connect, or the token file of the server (default: the variable INSPAN_TOKEN)',
    '  --db <file>           the database file (default: ~/.inspan/inspan.db)',
    '',
    `The newest ${WINDOW} messages of a thread are shown; "inspan replay" shows all of them.`,
    'Type /help in the chat for its commands and keys.',
    '',
    'Examples:',
    '  inspan chat --harness claude-code',
    '  inspan chat --model anthropic/claude-sonnet-4-5 --continue',
    '  INSPAN_TOKEN=… inspan chat --connect http://127.0.0.1:4100',
  ].join('\n'),
  run,
}

async function run(args: readonly string[], terminal: Terminal): Promise<number> {
  const values = parseOnlyOptions(args, {
    model: { type: 'string' },
    harness: { type: 'string' },
    continue: { type: 'boolean', default: false },
    thread: { type: 'string' },
    session: { type: 'string' },
    connect: { type: 'string' },
    'token-file': { type: 'string' },
    db: { type: 'string' },
  })
  const { connect: url, db, thread } = values
  const isChosen = (values.model ?? values.harness ?? values.session ?? url) !== undefined
  const config = isChosen ? {} : await readConfig(terminal.cwd)
  const model = values.model ?? (config.harness === undefined ? config.model : undefined)
  const session = values.session === undefined ? undefined : await findSession(values.session, terminal)
  const given = values.harness ?? session?.agentId ?? config.harness
  const cli = given === undefined ? undefined : cliId(given)
  if (model !== undefined && cli !== undefined) throw new UsageError('--model and --harness exclude each other')
  if (url !== undefined && (model ?? cli ?? db) !== undefined) {
    throw new UsageError('--connect talks to the agents of the server: leave out --model, --harness and --db')
  }
  if (url === undefined && values['token-file'] !== undefined) throw new UsageError('--token-file needs --connect')
  checkTerminal(terminal)
  const [{ createClient, webSocketTransport }, { deferredTransport }] = await Promise.all([
    import('@inspan/client'),
    import('../chat/deferred-transport.ts'),
  ])
  let local: LocalServer | undefined
  const start = async (): Promise<Transport> => {
    // The screen comes first: what a server needs takes many times as long to load.
    await screenIsShown.promise
    if (url !== undefined) {
      await checkServer(url)
      const token = await givenToken(values['token-file'], terminal)
      return webSocketTransport({ url, ...(token === undefined ? {} : { token }) })
    }
    const { startLocalServer } = await import('../chat/local-server.ts')
    local = await startLocalServer({ model, cli, db }, terminal)
    return webSocketTransport({ url: local.server.url, token: local.server.token })
  }
  const screenIsShown = Promise.withResolvers<void>()
  const starting = start()
  const client = await createClient({
    transport: deferredTransport(starting),
    window: WINDOW,
    ...(thread === undefined ? {} : { thread }),
  })
  const open = async (): Promise<void> => {
    await starting
    await client.ready()
    if (session !== undefined) await client.open(await client.routes.importSession(session.id))
    else if (!values.continue && thread === undefined && client.getState().messages.length > 0) {
      await client.open((await client.routes.createThread()).id)
    }
  }
  const ready = open()
  ready.catch(() => undefined)
  try {
    return await show({ client, ready, onShown: screenIsShown.resolve }, terminal)
  } finally {
    // A start that is under way is waited for, so that nothing of it is left behind.
    screenIsShown.resolve()
    await client.close()
    await starting.catch(() => undefined)
    await local?.close()
  }
}

async function findSession(given: string, terminal: Terminal): Promise<{ id: string; agentId: string }> {
  const { listSessions, WITH_SESSIONS } = await import('./sessions.ts')
  const sessions = await listSessions(terminal.cwd, WITH_SESSIONS, terminal)
  const found = sessions.filter(({ id }) => id === given || (given.length >= 4 && id.endsWith(given)))
  const [only] = found
  if (only !== undefined && found.length === 1) return only
  throw new InspanError('not-found', `No coding agent has a conversation "${given}" in this folder.`, {
    hint: '"inspan sessions" lists what there is.',
  })
}

function checkTerminal({ input, isTty }: Terminal): void {
  if (isTty && 'isTTY' in input && input.isTTY === true) return
  throw new InspanError('misuse', '"inspan chat" needs a terminal for its input and output.', {
    hint: 'Use "inspan run" in scripts and pipes.',
  })
}

async function givenToken(file: string | undefined, { cwd, env }: Terminal): Promise<string | undefined> {
  if (file === undefined) return env['INSPAN_TOKEN']
  let text: string
  try {
    text = (await readFile(resolve(cwd, file), 'utf8')).trim()
  } catch (error) {
    throw new InspanError('io', `The token file ${file} cannot be read.`, { cause: error })
  }
  // The file of "inspan serve" is JSON; any other holds the token alone.
  if (!text.startsWith('{')) return text
  try {
    const { token } = JSON.parse(text) as { token?: unknown }
    if (typeof token === 'string') return token
  } catch {
    // Reported below, like a file without a token.
  }
  throw new InspanError('invalid-input', `There is no token in ${file}.`, {
    hint: 'Name the token file of "inspan serve", or a file that holds only the token.',
  })
}

/** A client tries forever to reach a server that it has seen. One that was never there is an error. */
async function checkServer(url: string): Promise<void> {
  if (!URL.canParse(url) || !/^https?:$/.test(new URL(url).protocol)) {
    throw new UsageError('--connect takes the address of a server, such as http://127.0.0.1:4100')
  }
  try {
    await fetch(new URL('/v1/limits', url))
  } catch (error) {
    throw new InspanError('io', `No server can be reached at ${url}.`, {
      hint: 'Start it with "inspan serve", and use the address that it prints.',
      cause: error,
    })
  }
}

const ENDING = { SIGINT: 130, SIGTERM: 143, SIGHUP: 129 } as const

interface ShownThread {
  readonly client: Client
  /** Resolves when messages can be sent. */
  readonly ready: Promise<void>
  readonly onShown: () => void
}

async function show({ client, onShown, ready }: ShownThread, { cwd, env }: Terminal): Promise<number> {
  const [{ ProcessTerminal, TuiMainScreen }, { ChatScreen }, { createTheme, hasColour }] = await Promise.all([
    import('@earendil-works/pi-tui'),
    import('../chat/chat-screen.ts'),
    import('../chat/theme.ts'),
  ])
  const screenTerminal = new ProcessTerminal()
  const tui = new TuiMainScreen(screenTerminal)
  // Also restores the terminal when a defect ends the process.
  const restore = (): void => tui.stop()
  process.once('exit', restore)
  const ended = new AbortController()
  let code = 0
  const listeners = Object.entries(ENDING).map(([signal, itsCode]) => {
    const listener = (): void => {
      code = itsCode
      ended.abort()
    }
    process.once(signal, listener)
    return () => void process.off(signal, listener)
  })
  try {
    const theme = createTheme(hasColour(env))
    await new ChatScreen({ client, tui, theme, cwd, ready, onShown }).run(ended.signal)
  } finally {
    for (const remove of listeners) remove()
    process.off('exit', restore)
  }
  return code
}
