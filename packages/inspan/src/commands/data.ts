import { existsSync } from 'node:fs'
import { readdir, rm, stat } from 'node:fs/promises'
import { join, resolve } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { createInterface } from 'node:readline/promises'
import { InspanError } from '@inspan/protocol'
import { UsageError, type InspanCommand, type Terminal } from '../command.ts'
import { dataFile, openExistingStore, recordingsOf } from '../data-file.ts'
import { homeOf } from '../home.ts'
import { logFile } from '../log-file.ts'
import { parseOptions } from '../parse-options.ts'
import { Progress } from '../progress.ts'
import { findThread } from '../read-thread.ts'

export const dataCommand: InspanCommand = {
  name: 'data',
  help: [
    'Usage: inspan data [where | backup <file> | delete <thread>…] [options]',
    '',
    'where (the default) shows where conversations, recordings, tokens and logs lie, and how large they are.',
    'backup copies the database to a file, also while it is in use.',
    'delete removes threads for good: the database file is rewritten, so that nothing of them is left in it.',
    '',
    '  --all        delete: everything of inspan on this machine, the settings included',
    '  --yes        delete: do not ask',
    '  --db <file>  the database file (default: ~/.inspan/inspan.db)',
    '  --json       where: print one line of JSON for each place',
    '',
    'Examples:',
    '  inspan data',
    '  inspan data backup ~/inspan-backup.db     restore it by copying it back while nothing runs',
    '  inspan data delete 4k2x --yes',
  ].join('\n'),
  run,
}

async function run(args: readonly string[], terminal: Terminal): Promise<number> {
  const { positionals, values } = parseOptions(args, {
    all: { type: 'boolean', default: false },
    yes: { type: 'boolean', default: false },
    db: { type: 'string' },
    json: { type: 'boolean', default: false },
  })
  const [verb = 'where', ...rest] = positionals
  switch (verb) {
    case 'where':
      return where(values, terminal)
    case 'backup':
      return backup(rest, values.db, terminal)
    case 'delete':
      return values.all ? deleteAll(values, terminal) : deleteThreads(rest, values, terminal)
    default:
      throw new UsageError(`"${verb}" is none of where, backup, delete`)
  }
}

async function where(
  { db, json }: { readonly db?: string | undefined; readonly json: boolean },
  terminal: Terminal,
): Promise<number> {
  const home = homeOf(terminal)
  const file = dataFile(db, terminal)
  const places: readonly (readonly [string, string])[] = [
    ['conversations', file],
    ['recordings of coding agents', join(home, 'recordings')],
    ['patches of comparisons', join(home, 'comparisons')],
    ['tokens of servers', join(home, 'server-tokens.json')],
    ['trusted folders', join(home, 'trusted-folders.json')],
    ['log', logFile(terminal)],
  ]
  for (const [what, path] of places) {
    const bytes = await measured(path === file ? [path, `${path}-wal`, `${path}-shm`] : [path], terminal)
    terminal.out(json ? JSON.stringify({ what, path, bytes }) : `${readable(bytes).padStart(9)}  ${what}: ${path}`)
  }
  return 0
}

async function measured(paths: readonly string[], terminal: Terminal): Promise<number> {
  using progress = new Progress(terminal)
  progress.show(`Adding up ${paths[0]} …`)
  return (await Promise.all(paths.map(sizeOf))).reduce((sum, size) => sum + size, 0)
}

async function sizeOf(path: string): Promise<number> {
  const found = await stat(path).catch(() => undefined)
  if (found === undefined) return 0
  if (!found.isDirectory()) return found.size
  const entries = await readdir(path, { recursive: true, withFileTypes: true })
  const sizes = entries
    .filter((entry) => entry.isFile())
    .map(async (entry) => (await stat(join(entry.parentPath, entry.name)).catch(() => undefined))?.size ?? 0)
  return (await Promise.all(sizes)).reduce((sum, size) => sum + size, 0)
}

function readable(bytes: number): string {
  const units = ['B', 'KB', 'MB', 'GB', 'TB']
  const power = bytes === 0 ? 0 : Math.min(units.length - 1, Math.floor(Math.log2(bytes) / 10))
  return `${power === 0 ? bytes : (bytes / 1024 ** power).toFixed(1)} ${units[power]}`
}

async function backup(args: readonly string[], db: string | undefined, terminal: Terminal): Promise<number> {
  const [given] = args
  if (given === undefined || args.length > 1) throw new UsageError('name the file: inspan data backup <file>')
  const target = resolve(terminal.cwd, given)
  const source = dataFile(db, terminal)
  if (!existsSync(source)) throw new InspanError('not-found', `Nothing has been recorded in ${source} yet.`)
  if (existsSync(target)) {
    throw new InspanError('already-exists', `${given} is already there.`, { hint: 'Name another file.' })
  }
  using progress = new Progress(terminal)
  progress.showNow(`Copying ${readable(await sizeOf(source))} …`)
  const database = new DatabaseSync(source, { readOnly: true })
  try {
    // One consistent state, whoever writes meanwhile.
    database.prepare('VACUUM INTO ?').run(target)
  } catch (error) {
    throw new InspanError('io', `The backup cannot be written to ${given}.`, { cause: error })
  } finally {
    database.close()
  }
  terminal.err(`Copied ${readable(await sizeOf(target))} to ${given}`)
  return 0
}

interface DeleteValues {
  readonly db?: string | undefined
  readonly yes: boolean
}

async function deleteThreads(args: readonly string[], { db, yes }: DeleteValues, terminal: Terminal): Promise<number> {
  if (args.length === 0) throw new UsageError('name the threads to delete, or --all')
  const store = await openExistingStore(db, terminal)
  try {
    const { deleteThread, ProcessOwner } = await import('@inspan/core/engine')
    const threads = await Promise.all(args.map((given) => findThread(store, given)))
    if (!(await isSure(`Delete ${threads.length} threads for good?`, yes, terminal))) return 1
    const owner = await ProcessOwner.register(store)
    try {
      for (const thread of threads) {
        const { remains, retained } = await deleteThread(store, owner, thread)
        await rm(recordingsOf(thread, terminal), { recursive: true, force: true })
        terminal.out(`Deleted ${thread}`)
        for (const { neededBy } of retained) terminal.err(`  Forks still need a part of it: ${neededBy.join(', ')}`)
        for (const rest of remains) {
          if (rest.kind === 'native-session') terminal.err(`  ${rest.agentId} keeps its own session ${rest.nativeId}`)
        }
      }
    } finally {
      await owner.close()
    }
    using progress = new Progress(terminal)
    progress.showNow('Rewriting the database file …')
    await store.compact()
    return 0
  } finally {
    await store.close()
  }
}

async function deleteAll({ yes }: DeleteValues, terminal: Terminal): Promise<number> {
  const home = homeOf(terminal)
  if (!(await isSure(`Delete ${home} with all conversations, recordings and settings for good?`, yes, terminal)))
    return 1
  await rm(home, { recursive: true, force: true })
  terminal.out(`Deleted ${home}`)
  return 0
}

/** Without a terminal there is nobody to ask, and then nothing is deleted. */
async function isSure(question: string, yes: boolean, terminal: Terminal): Promise<boolean> {
  if (yes) return true
  if (!terminal.isTty) throw new UsageError('--yes is needed where nobody can be asked')
  using lines = createInterface({ input: terminal.input })
  terminal.write(`${question} [y/N] `)
  const ended = new Promise<string>((end) => lines.once('close', () => end('')))
  return /^y(es)?$/i.test((await Promise.race([lines.question(''), ended])).trim())
}
