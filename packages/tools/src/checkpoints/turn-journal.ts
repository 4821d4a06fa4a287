import { appendFile, mkdir, readdir, readFile, rm, rmdir } from 'node:fs/promises'
import { join } from 'node:path'
import type { FileState } from './shadow-repository.ts'

/** A turn whose changes of files are kept. */
export interface JournaledTurn {
  readonly thread: string
  readonly runId: string
  readonly turnId: string
  /** The seq of the thread when the turn began. */
  readonly seq: number
}

export interface FileChange {
  readonly path: string
  readonly before: FileState | null
  readonly after: FileState | null
  /** Another turn worked in the same folder meanwhile, so nobody knows whose change it is. */
  readonly isShared?: true
}

type JournalLine =
  | { readonly turn: JournaledTurn }
  | { readonly baseline: string; readonly at: number }
  | { readonly kept: string; readonly before: FileState | null }
  | { readonly changes: readonly FileChange[] }
  | { readonly left: readonly string[] }
  | { readonly isRewound: true }

/** What is known about a turn. Without `changes` it has not ended, or its process died. */
export interface TurnEntry {
  readonly turn: JournaledTurn
  readonly baseline?: string
  /** When the baseline began, in milliseconds of the clock. */
  readonly at?: number
  /** Files that the turn changed, moved or brought to light, and that nothing can put back. */
  readonly left: readonly string[]
  readonly kept: ReadonlyMap<string, FileState | null>
  readonly changes?: readonly FileChange[]
  /** Its changes were put back. */
  readonly isRewound?: true
}

/** One file per turn, to which lines are only added: what was written before a crash is still true. */
export class TurnJournal {
  readonly #folder: string

  constructor(folder: string) {
    this.#folder = join(folder, 'inspan-turns')
  }

  async add({ thread, turnId }: JournaledTurn, line: JournalLine): Promise<void> {
    const folder = this.#of(thread)
    await mkdir(folder, { recursive: true, mode: 0o700 })
    await appendFile(join(folder, `${encodeURIComponent(turnId)}.jsonl`), `${JSON.stringify(line)}\n`, { mode: 0o600 })
  }

  /** Returns what is known about a turn; `undefined` when it changed nothing. */
  read({ thread, turnId }: JournaledTurn): Promise<TurnEntry | undefined> {
    return readEntry(join(this.#of(thread), `${encodeURIComponent(turnId)}.jsonl`)).catch(() => undefined)
  }

  /** Returns the turns of a thread, oldest first. */
  async turns(thread: string): Promise<TurnEntry[]> {
    const folder = this.#of(thread)
    const names = await readdir(folder).catch(() => [])
    const entries = await Promise.all(names.map((name) => readEntry(join(folder, name))))
    return entries.filter((entry) => entry !== undefined).sort((a, b) => a.turn.seq - b.turn.seq)
  }

  /** Returns the turns of all threads. */
  async all(): Promise<TurnEntry[]> {
    const threads = await readdir(this.#folder).catch(() => [])
    return (await Promise.all(threads.map((name) => this.turns(decodeURIComponent(name))))).flat()
  }

  async forget({ thread, turnId }: JournaledTurn): Promise<void> {
    const folder = this.#of(thread)
    await rm(join(folder, `${encodeURIComponent(turnId)}.jsonl`), { force: true })
    await rmdir(folder).catch(() => undefined)
  }

  #of(thread: string): string {
    return join(this.#folder, encodeURIComponent(thread))
  }
}

async function readEntry(path: string): Promise<TurnEntry | undefined> {
  let entry: TurnEntry | undefined
  for (const text of (await readFile(path, 'utf8')).split('\n')) {
    // The last line may have been cut off by a crash; nothing was done on the strength of it.
    const line = parse(text)
    if (line === undefined) continue
    if ('turn' in line) entry ??= { turn: line.turn, left: [], kept: new Map() }
    else if (entry === undefined) continue
    // A turn that goes on in another process has a second baseline; only the first is before the turn.
    else if ('baseline' in line) entry = { baseline: line.baseline, at: line.at, ...entry }
    else if ('left' in line) entry = { ...entry, left: [...entry.left, ...line.left] }
    else if ('isRewound' in line) entry = { ...entry, isRewound: true }
    else if ('changes' in line) entry = { ...entry, changes: line.changes }
    else if (!entry.kept.has(line.kept)) entry = { ...entry, kept: new Map([...entry.kept, [line.kept, line.before]]) }
  }
  return entry
}

function parse(text: string): JournalLine | undefined {
  try {
    return JSON.parse(text) as JournalLine
  } catch {
    return undefined
  }
}
