import type { Head, QueuedItem, RunState } from './head.ts'
import { Keyed } from './keyed.ts'
import { List } from './list.ts'

/** The JSON form of a collection. */
type Plain<K> = K extends Keyed<infer T> ? { readonly [id: string]: T } : K extends List<infer T> ? readonly T[] : K

/** A run as JSON. */
export type StoredRunState = { readonly [K in keyof RunState]: Plain<RunState[K]> }

/** A head as JSON: in stores, ops and snapshots. */
export type StoredHead = { readonly [K in keyof Omit<Head, 'run'>]: Plain<Head[K]> } & {
  readonly run: StoredRunState | null
}

/** The fields of a head that are kept by id. */
export type KeyedSlice = { [K in keyof Head]: Head[K] extends Keyed<unknown> ? K : never }[keyof Head]

export type KeyedValue<K extends KeyedSlice> = Head[K] extends Keyed<infer T> ? T : never

export function storedHead(head: Head): StoredHead {
  return {
    ...head,
    lineage: head.lineage.toArray(),
    settings: head.settings.toJSON(),
    settingsAt: head.settingsAt.toJSON(),
    state: head.state.toJSON(),
    stateAt: head.stateAt.toJSON(),
    queue: head.queue.toJSON(),
    waits: head.waits.toJSON(),
    definitions: head.definitions.toJSON(),
    bindings: head.bindings.toJSON(),
    children: head.children.toJSON(),
    run: head.run === null ? null : storedRun(head.run),
  }
}

export function reviveHead(stored: StoredHead): Head {
  return {
    ...stored,
    lineage: List.from(stored.lineage),
    settings: reviveSlice('settings', stored.settings),
    settingsAt: reviveSlice('settingsAt', stored.settingsAt),
    state: reviveSlice('state', stored.state),
    stateAt: reviveSlice('stateAt', stored.stateAt),
    queue: reviveSlice('queue', stored.queue),
    waits: reviveSlice('waits', stored.waits),
    definitions: reviveSlice('definitions', stored.definitions),
    bindings: reviveSlice('bindings', stored.bindings),
    children: reviveSlice('children', stored.children),
    run: stored.run === null ? null : reviveRun(stored.run),
  }
}

export function storedRun({ kept, processes, ...run }: RunState): StoredRunState {
  return { ...run, processes: processes.toJSON(), ...(kept === undefined ? {} : { kept: kept.toJSON() }) }
}

export function reviveRun({ kept, processes, ...run }: StoredRunState): RunState {
  return {
    ...run,
    processes: byPlace(processes, (_process, seq) => Number(seq)),
    ...(kept === undefined ? {} : { kept: Keyed.from(Object.entries(kept)) }),
  }
}

/** Restores a collection from JSON. JSON objects have no reliable order, so ordered entries carry their place. */
export function reviveSlice<K extends KeyedSlice>(key: K, stored: StoredHead[K]): Head[K]
export function reviveSlice(key: KeyedSlice, stored: { readonly [id: string]: unknown }): Keyed<unknown> {
  switch (key) {
    case 'queue':
      return byPlace(stored as StoredHead['queue'], placeInQueue)
    case 'waits':
      return byPlace(stored as StoredHead['waits'], ({ openedAt }) => openedAt)
    case 'definitions':
      return byPlace(stored as StoredHead['definitions'], ({ at }) => at)
    case 'bindings':
    case 'children':
    case 'settings':
    case 'settingsAt':
    case 'state':
    case 'stateAt':
      return Keyed.from(Object.entries(stored))
  }
}

/** Returns the collection with this entry. A new entry comes last, or first if it was queued for the front. */
export function withEntry(key: KeyedSlice, entries: Keyed<unknown>, id: string, value: unknown): Keyed<unknown> {
  return isForFront(key, value) && !entries.has(id) ? entries.prepend(id, value) : entries.set(id, value)
}

export function isForFront(key: KeyedSlice, value: unknown): boolean {
  return key === 'queue' && (value as QueuedItem).front === true
}

/** Sorts the item that was put to the front last before all others. */
function placeInQueue({ addedAt, front }: QueuedItem): number {
  return front === true ? -addedAt : addedAt
}

function byPlace<T>(stored: { readonly [id: string]: T }, placeOf: (value: T, id: string) => number): Keyed<T> {
  return Keyed.from(Object.entries(stored).sort(([a, one], [b, other]) => placeOf(one, a) - placeOf(other, b)))
}
