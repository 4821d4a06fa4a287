import { mkdirSync } from 'node:fs'
import { homedir } from 'node:os'
import { dirname, join, resolve } from 'node:path'
import { SqliteStore } from '@evener/core'
import type { Terminal } from './command.ts'

/** `--db`, else `EVENER_HOME`, else the user's own folder. */
export function dataFile(option: string | undefined, terminal: Terminal): string {
  if (option !== undefined) return resolve(terminal.cwd, option)
  return join(terminal.env['EVENER_HOME'] ?? join(homedir(), '.evener'), 'evener.db')
}

/** Conversations may hold anything: only their owner can read the folder. */
export function openStore(file: string): SqliteStore {
  mkdirSync(dirname(file), { recursive: true, mode: 0o700 })
  return new SqliteStore({ url: file })
}
