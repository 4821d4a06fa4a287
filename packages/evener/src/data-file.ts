import { existsSync } from 'node:fs'
import { homedir } from 'node:os'
import { join, resolve } from 'node:path'
import type { SqliteStore } from '@evener/core'
import { EvenerError } from '@evener/protocol'
import { makeFolder, pruneSpool } from '@evener/shell/run'
import type { Terminal } from './command.ts'

/** Opens the file of `--db`, else the one in `EVENER_HOME` or the user's own folder, which is made if need be. */
export async function openStore(option: string | undefined, terminal: Terminal): Promise<SqliteStore> {
  if (option !== undefined) return open(resolve(terminal.cwd, option))
  const home = homeOf(terminal)
  try {
    // Conversations may hold anything: only their owner can read the folder.
    await makeFolder(home)
  } catch (error) {
    throw new EvenerError('io', `The folder ${home} cannot be created.`, {
      hint: 'Set EVENER_HOME to a folder you can write to, or name a file with --db.',
      cause: error,
    })
  }
  return open(join(home, 'evener.db'))
}

/** Everything about stores is loaded here: not every command opens one. */
async function open(url: string): Promise<SqliteStore> {
  const core = await import('@evener/core')
  return new core.SqliteStore({ url })
}

/** The file of `--db`, else the one that is used without it. */
export function dataFile(option: string | undefined, terminal: Terminal): string {
  return option === undefined ? join(homeOf(terminal), 'evener.db') : resolve(terminal.cwd, option)
}

/** For commands that only read: nothing is made where nothing is. */
export async function openExistingStore(option: string | undefined, terminal: Terminal): Promise<SqliteStore> {
  const file = dataFile(option, terminal)
  if (!existsSync(file)) {
    throw new EvenerError('not-found', `Nothing has been recorded in ${file} yet.`, {
      hint: '"evener run" starts a conversation.',
    })
  }
  return open(file)
}

/** Where the output of a coding agent is recorded, a folder for every turn. */
export function recordingsOf(thread: string, terminal: Terminal): string {
  return join(allRecordings(terminal), thread)
}

/** Removes recordings that are more than a week old; those that were given a place of their own are not touched. */
export async function pruneRecordings(terminal: Terminal): Promise<void> {
  await pruneSpool(allRecordings(terminal), { companions: ['events.jsonl'] })
}

function allRecordings(terminal: Terminal): string {
  return join(homeOf(terminal), 'recordings')
}

function homeOf(terminal: Terminal): string {
  return terminal.env['EVENER_HOME'] ?? join(homedir(), '.evener')
}
