import { constants, existsSync } from 'node:fs'
import { access, chmod, copyFile, mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { dirname, join, resolve } from 'node:path'
import type { SqliteStore } from '@inspan/core'
import { InspanError } from '@inspan/protocol'
import { makeFolder, pruneSpool } from '@inspan/shell/run'
import type { Terminal } from './command.ts'
import { homeOf } from './home.ts'

/** Opens the file of `--db`, else the one in `INSPAN_HOME` or the user's own folder, which is created if necessary. */
export async function openStore(option: string | undefined, terminal: Terminal): Promise<SqliteStore> {
  if (option !== undefined) return open(resolve(terminal.cwd, option))
  const home = homeOf(terminal)
  try {
    // Conversations may contain anything, so only their owner can read the folder.
    await makeFolder(home)
  } catch (error) {
    throw new InspanError('io', `The folder ${home} cannot be created.`, {
      hint: 'Set INSPAN_HOME to a folder you can write to, or name a file with --db.',
      cause: error,
    })
  }
  return open(join(home, 'inspan.db'))
}

/** Loads all code for stores only here, because not every command opens one. */
async function open(url: string): Promise<SqliteStore> {
  const core = await import('@inspan/core')
  return new core.SqliteStore({ url })
}

/** Returns the file of `--db`, else the default file. */
export function dataFile(option: string | undefined, terminal: Terminal): string {
  return option === undefined ? join(homeOf(terminal), 'inspan.db') : resolve(terminal.cwd, option)
}

/** For commands that only read: does not create a missing file, and reads one that cannot be written. */
export async function openExistingStore(option: string | undefined, terminal: Terminal): Promise<SqliteStore> {
  const file = dataFile(option, terminal)
  if (!existsSync(file)) {
    throw new InspanError('not-found', `Nothing has been recorded in ${file} yet.`, {
      hint: '"inspan run" starts a conversation.',
    })
  }
  return (await isWritable(file)) ? open(file) : openCopy(file)
}

/** SQLite needs to write beside a file even to read it. */
async function isWritable(file: string): Promise<boolean> {
  try {
    await Promise.all([file, dirname(file)].map((path) => access(path, constants.W_OK)))
    return true
  } catch {
    return false
  }
}

/** Opens a private copy, which is removed when the store is closed. */
async function openCopy(file: string): Promise<SqliteStore> {
  const folder = await mkdtemp(join(tmpdir(), 'inspan-'))
  const copy = join(folder, 'copy.db')
  try {
    for (const suffix of ['', '-wal']) {
      if (!existsSync(file + suffix)) continue
      await copyFile(file + suffix, copy + suffix, constants.COPYFILE_FICLONE)
      await chmod(copy + suffix, 0o600)
    }
    const store = await open(copy)
    const close = store.close.bind(store)
    store.close = async () => {
      await close()
      await rm(folder, { recursive: true, force: true })
    }
    return store
  } catch (error) {
    await rm(folder, { recursive: true, force: true })
    throw new InspanError('read-only', `${file} can be neither written nor copied.`, {
      hint: 'Make it readable, or name another file with --db.',
      cause: error,
    })
  }
}

/** Returns the folder for the recordings of a thread, which has a folder for every turn. */
export function recordingsOf(thread: string, terminal: Terminal): string {
  return join(allRecordings(terminal), thread)
}

/** Removes recordings that are more than a week old, except those that have a folder of the user's choice. */
export async function pruneRecordings(terminal: Terminal): Promise<void> {
  await pruneSpool(allRecordings(terminal), { companions: ['events.jsonl'] })
}

function allRecordings(terminal: Terminal): string {
  return join(homeOf(terminal), 'recordings')
}
