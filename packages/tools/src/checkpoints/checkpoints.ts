import { existsSync, realpathSync, type BigIntStats } from 'node:fs'
import { lstat, readdir, readlink, rmdir } from 'node:fs/promises'
import { basename, dirname, join, relative, resolve, sep } from 'node:path'
import { InspanError } from '@inspan/protocol'
import type { Lineage } from '@inspan/protocol/log'
import { inspanHome } from '../inspan-home.ts'
import { isAmong, ownPaths } from '../own-files.ts'
import { resolveLinks } from '../resolve-links.ts'
import { LocalFiles } from '../workspace/local-files.ts'
import { inTheWay, obstructed, removeEmptyFolder } from './obstacles.ts'
import { ShadowRepository, type Contents, type FileState } from './shadow-repository.ts'
import { TurnJournal, type FileChange, type JournaledTurn, type TurnEntry } from './turn-journal.ts'

export interface CheckpointOptions {
  /** Where the contents are kept. Default: `checkpoints` in `INSPAN_HOME`, or in `.inspan` of the user's folder. */
  readonly folder?: string
}

/** What a person decided about files that they had changed: to lose their changes, or to leave those files alone. */
export interface SettledConflicts {
  readonly answer: 'overwrite' | 'keep'
  /** The files they were asked about. Another one that was changed meanwhile is still a conflict. */
  readonly files: readonly string[]
}

export interface RewindOptions {
  readonly dryRun?: boolean
  readonly conflicts?: SettledConflicts
}

/** What a rewind does, or would do. */
export interface RewindReport {
  readonly restored: readonly string[]
  readonly removed: readonly string[]
  /** Files that a person changed since, or that several turns changed at once. They stay as they are. */
  readonly conflicts: readonly string[]
  /**
   * Paths that no checkpoint covers: `.gitignore` names them or did when the turn began, they are repositories of their
   * own or outside of the folder, or they are ours. They stay as they are.
   */
  readonly notCovered: readonly string[]
  /** The turn that the files go back to: they are as they were before it. Absent if no turn is undone. */
  readonly turnId?: string
}

/** A file that a thread changed. A content is missing where there is no file, and where it is binary or too large. */
export interface ChangedFile {
  readonly path: string
  readonly status: 'created' | 'changed' | 'deleted'
  readonly before?: string
  readonly after?: string
  /** The difference in git's unified format. Missing where a content is. */
  readonly diff?: string
  readonly isBinary?: true
}

interface OpenCheckpoint {
  readonly turn: JournaledTurn
  readonly kept: Map<string, FileState | null>
  header: Promise<void> | undefined
  baseline: Promise<string> | undefined
  isShared: boolean
}

const MAX_SHOWN = 1024 * 1024

/** Keeps what turns change in a folder, so that it can be put back. One per folder and process. */
export class Checkpoints {
  readonly root: string
  /** Ours, and none of a turn's changes. */
  readonly #ownPaths: () => readonly string[]
  readonly #shadow: ShadowRepository
  readonly #journal: TurnJournal
  readonly #open = new Map<string, OpenCheckpoint>()
  /** Threads whose turns of earlier processes have ended. */
  readonly #settled = new Map<string, Promise<boolean>>()
  /** git changes one index at a time. */
  #scanning: Promise<unknown> = Promise.resolve()

  constructor(root: string, { folder = inspanHome('checkpoints') }: CheckpointOptions = {}) {
    this.root = realpathSync(root)
    this.#ownPaths = () => ownPaths(this.root, folder)
    this.#shadow = new ShadowRepository(folder, this.root, this.#ownPaths)
    this.#journal = new TurnJournal(this.#shadow.folder)
  }

  /** Stores the whole folder as it is before the turn, once. What may change anything has to wait for it. */
  async baseline(turn: JournaledTurn): Promise<void> {
    const open = this.#of(turn)
    if (this.#open.size > 1) for (const each of this.#open.values()) each.isShared = true
    open.baseline ??= this.#baseline(open)
    await open.baseline
  }

  /** Stores a file, or the files of a folder, before the turn changes it. Costs the same in a tree of any size. */
  async keep(turn: JournaledTurn, path: string): Promise<void> {
    const open = this.#of(turn)
    // The links of the folder above lead to where the file is; the path itself may be a link that is deleted.
    const within = relative(this.root, join(resolveLinks(dirname(path)), basename(path)))
    if (within === '' || isAmong(this.#ownPaths(), within)) return
    await this.#header(open)
    if (within === '..' || within.startsWith(`..${sep}`)) {
      await this.#journal.add(turn, { left: [path] })
      return
    }
    const stats = await lstat(path).catch(() => undefined)
    if (stats?.isDirectory() === true) {
      for (const name of await readdir(path)) await this.keep(turn, join(path, name))
      return
    }
    if (open.kept.has(within)) return
    const before = await this.#shadow.keep(within)
    open.kept.set(within, before)
    await this.#journal.add(turn, { kept: within, before })
    // Writing through a link whose target is missing creates the target.
    if (stats?.isSymbolicLink() === true && !existsSync(path)) {
      await this.keep(turn, resolve(dirname(path), await readlink(path)))
    }
  }

  /** Records what the turn has changed, and returns it. */
  async end(turn: JournaledTurn): Promise<readonly FileChange[]> {
    const open = this.#open.get(turn.turnId)
    if (open === undefined) return []
    try {
      await open.baseline
      // As it was written down, because an earlier process may have begun the turn.
      const entry = await this.#journal.read(turn)
      return entry === undefined ? [] : await this.#close(entry, open.isShared)
    } finally {
      this.#open.delete(turn.turnId)
    }
  }

  /** Puts the files back as they were before the first of these turns. */
  async rewind(
    lineage: Lineage,
    isMeant: (turn: JournaledTurn) => boolean,
    { dryRun = false, conflicts: settled }: RewindOptions = {},
  ): Promise<RewindReport> {
    const turns = (await this.#ended(lineage)).filter(({ turn }) => isMeant(turn))
    const changes = this.#combined(turns)
    const conflicts: string[] = []
    const todo: FileChange[] = []
    /** They stay, and what was below the folders that they stand for cannot come back. */
    const staying: string[] = []
    for (const change of changes) {
      if (isAmong(staying, change.path)) continue
      const now = await this.#shadow.state(change.path)
      if (isSame(now, change.before)) continue
      const isOurs = change.isShared !== true && isSame(now, change.after)
      const isSettled = settled?.files.includes(change.path) === true
      if (!isOurs && !isSettled) conflicts.push(change.path)
      else if (!isOurs && settled?.answer === 'keep' && now !== null) staying.push(change.path)
      else if (isOurs || settled?.answer === 'overwrite') todo.push(change)
    }
    const blocked = new Set(await obstructed(this.root, todo))
    for (const path of blocked) {
      if (isAmong(conflicts, path)) continue
      if (settled?.files.includes(path) !== true) conflicts.push(path)
      else if (settled.answer === 'overwrite') throw inTheWay(path)
    }
    const possible = todo.filter(({ path }) => !blocked.has(path))
    const left = turns.flatMap((entry) => entry.left)
    const notCovered = [...new Set([...(await this.#shadow.uncovered()), ...left])].sort()
    // All or nothing: half of an earlier state is one that never was.
    if (!dryRun && conflicts.length === 0) {
      await this.#assertKept(possible)
      await this.#restore(possible)
      for (const { turn } of turns) await this.#journal.add(turn, { isRewound: true })
    }
    const [removed = [], restored = []] = [true, false].map((isGone) => {
      return possible.filter(({ before }) => (before === null) === isGone).map(({ path }) => path)
    })
    const [first] = turns
    return { restored, removed, conflicts, notCovered, ...(first === undefined ? {} : { turnId: first.turn.turnId }) }
  }

  /** Returns the files that a thread has changed, with their contents before its first and after its last change. */
  async changes(lineage: Lineage): Promise<ChangedFile[]> {
    const found: ChangedFile[] = []
    const changes = this.#combined(await this.#ended(lineage)).filter(({ after, before }) => !isSame(before, after))
    const sizes = await this.#shadow.sizes(changes.flatMap(({ after, before }) => [before, after]))
    for (const { after, before, path } of changes) {
      const [old, current] = [await this.#shown(before, sizes), await this.#shown(after, sizes)]
      const isBinary = old === undefined || current === undefined
      const diff = isBinary ? undefined : await this.#shadow.diff(path, before, after)
      found.push({
        path,
        status: before === null ? 'created' : after === null ? 'deleted' : 'changed',
        ...(old === undefined || old === null ? {} : { before: old }),
        ...(current === undefined || current === null ? {} : { after: current }),
        ...(diff === undefined ? {} : { diff }),
        ...(isBinary ? { isBinary } : {}),
      })
    }
    return found
  }

  /** Forgets what was kept of a thread, or of its turns in a range, with the contents that nothing else refers to. */
  async forget(thread: string, range?: { readonly from: number; readonly to: number }): Promise<void> {
    const turns = (await this.#journal.turns(thread)).filter(
      ({ turn: { seq } }) => range === undefined || (seq >= range.from && seq <= range.to),
    )
    if (turns.length === 0) return
    for (const { turn } of turns) await this.#journal.forget(turn)
    // Otherwise the index may still refer to what a file contained at the last scan.
    await this.#scan()
    await this.#inTurn(async () => this.#shadow.prune((await this.#journal.all()).flatMap(contentsOf)))
  }

  #of(turn: JournaledTurn): OpenCheckpoint {
    const known = this.#open.get(turn.turnId)
    if (known !== undefined) return known
    const made: OpenCheckpoint = { turn, kept: new Map(), header: undefined, baseline: undefined, isShared: false }
    this.#open.set(turn.turnId, made)
    return made
  }

  #header(open: OpenCheckpoint): Promise<void> {
    open.header ??= this.#begin(open.turn)
    return open.header
  }

  /** Ends the turns whose process died before this one changes anything: later changes are not theirs. */
  async #begin(turn: JournaledTurn): Promise<void> {
    const { thread } = turn
    const settled = this.#settled.get(thread) ?? this.#journal.turns(thread).then((turns) => this.#closeLeft(turns))
    this.#settled.set(thread, settled)
    await settled.catch((error: unknown) => {
      this.#settled.delete(thread)
      throw error
    })
    await this.#journal.add(turn, { turn })
  }

  async #baseline(open: OpenCheckpoint): Promise<string> {
    await this.#header(open)
    const at = Date.now()
    const tree = await this.#scan()
    await this.#journal.add(open.turn, { baseline: tree, at })
    return tree
  }

  #scan(): Promise<string> {
    return this.#inTurn(() => this.#shadow.scan())
  }

  #inTurn<T>(task: () => Promise<T>): Promise<T> {
    const next = this.#scanning.then(task)
    this.#scanning = next.catch(() => undefined)
    return next
  }

  /** Returns each changed path of the user once: from its first state to its last. */
  #combined(entries: readonly TurnEntry[]): FileChange[] {
    const own = this.#ownPaths()
    return combined(entries).filter(({ path }) => !isAmong(own, path))
  }

  /** Returns the turns of a thread. One whose process died ends now: what it changed is what is there. */
  async #ended(lineage: Lineage): Promise<TurnEntry[]> {
    const turns = await this.#turns(lineage)
    const known = (await this.#closeLeft(turns)) ? await this.#turns(lineage) : turns
    return known.filter(({ isRewound }) => isRewound !== true)
  }

  /** Returns whether there was one. */
  async #closeLeft(turns: readonly TurnEntry[]): Promise<boolean> {
    const left = turns.filter(
      ({ changes, isRewound, turn }) => changes === undefined && isRewound !== true && !this.#open.has(turn.turnId),
    )
    for (const entry of left) await this.#close(entry, false)
    return left.length > 0
  }

  /**
   * Returns the turns of a thread and those it shares with the threads it was forked from, oldest first. Its own turns
   * count even if the conversation has gone back behind them: the files have not.
   */
  async #turns(lineage: Lineage): Promise<TurnEntry[]> {
    const own = lineage.at(-1)?.stream
    const found = await Promise.all(
      [...new Set([...lineage].map(({ stream }) => stream))].map(async (stream) => {
        const ranges = [...lineage].filter((range) => range.stream === stream)
        const turns = await this.#journal.turns(stream)
        return turns.filter(
          ({ turn: { seq } }) =>
            stream === own || ranges.some(({ from, to }) => seq >= from && (to === null || seq <= to)),
        )
      }),
    )
    return found.flat().sort((a, b) => a.turn.seq - b.turn.seq)
  }

  async #close(entry: TurnEntry, isShared: boolean): Promise<readonly FileChange[]> {
    const { baseline, kept, left, turn } = entry
    const changes = new Map<string, FileChange>()
    if (baseline !== undefined) {
      const found = await this.#inTurn(async () => {
        const scanned = await this.#shadow.changes(baseline, await this.#shadow.scan())
        return { scanned, older: await this.#olderThan(entry, scanned) }
      })
      for (const change of found.scanned) {
        if (found.older.has(change.path)) continue
        changes.set(change.path, { ...change, ...(isShared && !kept.has(change.path) ? { isShared } : {}) })
      }
      if (found.older.size > 0) {
        await this.#journal.add(turn, { left: await this.#shadow.shortened([...found.older], baseline) })
      }
    }
    for (const [path, before] of kept) {
      const after = await this.#shadow.keep(path)
      if (!isSame(before, after)) changes.set(path, { path, before, after })
    }
    const ended = [...changes.values()].sort((a, b) => (a.path < b.path ? -1 : 1))
    if (kept.size > 0 || left.length > 0 || baseline !== undefined) await this.#journal.add(turn, { changes: ended })
    return ended
  }

  /**
   * Returns the files that are new to us, and older than the turn: it only moved them, or changed the `.gitignore` that
   * named them. Nothing has their content as it was, so going back must not remove them. One that has another name
   * elsewhere would not be lost.
   */
  async #olderThan({ at = -Infinity, kept }: TurnEntry, changes: readonly FileChange[]): Promise<ReadonlySet<string>> {
    const older = new Map<string, BigIntStats>()
    for (const { before, path } of changes) {
      if (before !== null || kept.has(path)) continue
      const stats = await lstat(join(this.root, path), { bigint: true }).catch(() => undefined)
      if (stats !== undefined && stats.birthtimeMs <= at && stats.nlink === 1n) older.set(path, stats)
    }
    return new Set(older.size === 0 ? [] : await this.#shadow.neverSeen(older))
  }

  /** Throws before anything is changed if a content is missing. */
  async #assertKept(changes: readonly FileChange[]): Promise<void> {
    const sizes = await this.#shadow.sizes(changes.map(({ before }) => before))
    const lost = changes.filter(({ before }) => before !== null && !sizes.has(before.id)).map(({ path }) => path)
    if (lost.length === 0) return
    throw new InspanError(
      'corrupt',
      `What these files contained is no longer there: ${lost.slice(0, 10).join(', ')}.`,
      {
        hint: `Nothing was changed. It was kept in ${this.#shadow.folder}.`,
      },
    )
  }

  async #restore(changes: readonly FileChange[]): Promise<void> {
    const files = new LocalFiles(this.root)
    // What was created goes first: a file may stand where a folder was, or the other way round.
    for (const { before, path } of changes) {
      if (before === null) await this.#remove(files, path)
    }
    for (const { before, path } of changes) {
      if (before === null) continue
      const content = await this.#shadow.content(before)
      await removeEmptyFolder(join(this.root, path))
      if (before.mode === '120000') await files.restore(path, { target: content.toString() })
      else {
        const there = await files.stat(path)
        const known = before.permissions ?? (there?.type === 'file' ? there.mode & 0o666 : 0o644)
        const mode = before.mode === '100755' ? known | ((known & 0o444) >> 2) : known
        await files.restore(path, { content, mode })
      }
    }
  }

  async #remove(files: LocalFiles, path: string): Promise<void> {
    await files.remove(path, false).catch((error: unknown) => {
      if (!InspanError.is(error, 'not-found')) throw error
    })
    // Folders that are empty now were made for it.
    for (let folder = dirname(path); folder !== '.'; folder = dirname(folder)) {
      try {
        await rmdir(join(this.root, folder))
      } catch {
        return
      }
    }
  }

  /** Returns `undefined` for what cannot be shown. */
  async #shown(state: FileState | null, sizes: ReadonlyMap<string, number>): Promise<string | null | undefined> {
    if (state === null) return null
    if ((sizes.get(state.id) ?? Infinity) > MAX_SHOWN) return undefined
    const bytes = await this.#shadow.content(state)
    return bytes.includes(0) ? undefined : bytes.toString('utf8')
  }
}

/** Returns the ids of everything that is needed to undo a turn. */
function contentsOf({ baseline, changes = [], kept }: TurnEntry): Contents[] {
  const states = [...kept.values(), ...changes.flatMap(({ after, before }) => [before, after])]
  const blobs = states.flatMap((state) => (state === null ? [] : [{ type: 'blob' as const, id: state.id }]))
  return baseline === undefined ? blobs : [{ type: 'tree', id: baseline }, ...blobs]
}

/** Returns each changed path once: from its first state to its last. */
function combined(entries: readonly TurnEntry[]): FileChange[] {
  const byPath = new Map<string, FileChange>()
  for (const change of entries.flatMap(({ changes = [] }) => changes)) {
    const known = byPath.get(change.path)
    // Between two turns only a person can have changed it.
    const isShared = known?.isShared ?? change.isShared ?? (known !== undefined && !isSame(known.after, change.before))
    const before = known === undefined ? change.before : known.before
    byPath.set(change.path, { path: change.path, before, after: change.after, ...(isShared ? { isShared } : {}) })
  }
  return [...byPath.values()].sort((a, b) => (a.path < b.path ? -1 : 1))
}

function isSame(a: FileState | null, b: FileState | null): boolean {
  return a === b || (a !== null && b !== null && a.id === b.id && a.mode === b.mode)
}
