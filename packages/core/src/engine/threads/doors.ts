import type { RunState, ThreadState } from '@inspan/protocol/log'
import type { Redactor } from '../log/redactor.ts'
import type { Door, ThreadRuntimeOptions } from '../thread-options.ts'

/**
 * The doors of a thread: everybody in this process that has it open, with their agents, rules and hooks. A run is
 * carried out with what its own door gives; the others watch.
 */
export class Doors {
  readonly #place: ThreadRuntimeOptions
  /** The newest last. Each is complete: what belongs to the thread, and what the door gave. */
  #all: readonly ThreadRuntimeOptions[] = []
  readonly #given = new Map<Door, ThreadRuntimeOptions>()
  /** Those of doors that have left, too: what they kept out of the thread stays out while it is open here. */
  readonly #redactors = new Set<Redactor>()
  /** The door that carries out the newest run here. Two doors may have the same name. */
  #serving: { readonly runId: string; readonly door: ThreadRuntimeOptions } | undefined

  constructor(place: ThreadRuntimeOptions, opener: Door | null) {
    this.#place = place
    if (opener !== null) this.add(opener)
  }

  add(door: Door): void {
    const { now, owner, store, thread } = this.#place
    const options = { ...door, store, owner, thread, ...(now === undefined ? {} : { now }) }
    this.#given.set(door, options)
    this.#all = [...this.#all, options]
    if (door.redact !== undefined) this.#redactors.add(door.redact)
  }

  /** Returns what the door gave, if it was there. */
  remove(door: Door): ThreadRuntimeOptions | undefined {
    const options = this.#given.get(door)
    this.#given.delete(door)
    this.#all = this.#all.filter((each) => each !== options)
    return options
  }

  get all(): readonly ThreadRuntimeOptions[] {
    return this.#all
  }

  /** Returns a door by its key or name; without either, the oldest. Of several with one name, the newest counts. */
  named(name: string | undefined): ThreadRuntimeOptions | undefined {
    if (name === undefined) return this.#all[0]
    return this.#all.findLast(({ doorKey }) => doorKey === name) ?? this.#all.findLast(({ door }) => door === name)
  }

  /** Returns the door of a run; `undefined` while it is absent. A run that names none can go on with any door. */
  of(run: Pick<RunState, 'runId' | 'door'>): ThreadRuntimeOptions | undefined {
    const serving = this.#serving
    if (serving?.runId === run.runId && this.#all.includes(serving.door)) return serving.door
    return this.named(run.door)
  }

  /** Notes who carries out a run. */
  serve(runId: string, door: ThreadRuntimeOptions): void {
    this.#serving = { runId, door }
  }

  serves(door: Door, runId: string): boolean {
    return this.#serving?.runId === runId && this.#serving.door === this.#given.get(door)
  }

  /** Returns what the door of the open run gave; no agents and no hooks while it is absent. */
  current({ head }: ThreadState): ThreadRuntimeOptions {
    if (head.run === null) return this.#all[0] ?? this.#place
    const { now, owner, store, thread } = this.#place
    return this.of(head.run) ?? { store, owner, thread, agents: {}, ...(now === undefined ? {} : { now }) }
  }

  /** Returns the doors that only watch the open run. */
  watching(state: ThreadState): readonly ThreadRuntimeOptions[] {
    if (this.#all.length === 1) return []
    const current = this.current(state)
    return this.#all.filter((door) => door !== current)
  }

  /** Returns one redactor that does what those of all doors do; `undefined` if no door had one. */
  get redact(): Redactor | undefined {
    const all = [...this.#redactors]
    if (all.length < 2) return all[0]
    const redactAll = (text: string): string => all.reduce((rest, redact) => redact(rest), text)
    const settled = (text: string): number => Math.min(...all.map((redact) => redact.settled?.(text) ?? 0))
    return Object.assign(redactAll, { settled })
  }
}
