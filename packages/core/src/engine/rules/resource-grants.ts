import { setTimeout as sleep } from 'node:timers/promises'
import { InspanError, NO_GRANTS, type Grants, type JsonValue } from '@inspan/protocol'
import type { HostTool } from '@inspan/protocol/driver'
import type { Head } from '@inspan/protocol/log'
import type { Store } from '@inspan/protocol/store'
import { Mailbox } from '../../common/mailbox.ts'
import { definitionHash } from '../calls/call-hash.ts'
import { readStreamState } from '../log/load-state.ts'
import { SideLog } from '../log/side-log.ts'
import type { ProcessOwner } from '../threads/ownership.ts'

/** How long to wait for another process that is writing grants of the same resource. */
const HELD_MS = 5000
const HELD_POLL_MS = 20

/** Who writes a change, and what they allow or revoke. */
export interface GrantChange {
  readonly owner: ProcessOwner
  readonly now: () => number
  readonly by?: string
  /** Returns the grants to have instead of the present ones. */
  readonly change: (grants: Grants) => Grants
  /** The tool that is allowed, if it is one of ours: another tool of that name is not allowed by it. */
  readonly tool?: HostTool | undefined
}

/**
 * What somebody allowed for all threads of a resource. It is on record in a stream of its own. Threads of a resource
 * share one object per process, so that a change applies to all of them at once.
 */
export class ResourceGrants {
  static readonly #known = new WeakMap<Store, Map<string, WeakRef<ResourceGrants>>>()
  /** A server has ever new resources: what nobody uses any more is forgotten. */
  static readonly #unused = new FinalizationRegistry<() => void>((forget) => forget())

  readonly #store: Store
  readonly #resourceId: string
  readonly #stream: string
  readonly #writes = new Mailbox()
  #seq = 0
  #grants: Grants = NO_GRANTS
  #definitions: Head['settings'] | undefined

  private constructor(store: Store, resourceId: string) {
    this.#store = store
    this.#resourceId = resourceId
    this.#stream = `grants:${JSON.stringify([resourceId])}`
  }

  static of(store: Store, resourceId: string): ResourceGrants {
    const known = this.#known.get(store) ?? new Map<string, WeakRef<ResourceGrants>>()
    this.#known.set(store, known)
    const there = known.get(resourceId)?.deref()
    if (there !== undefined) return there
    const made = new ResourceGrants(store, resourceId)
    const kept = new WeakRef(made)
    known.set(resourceId, kept)
    this.#unused.register(made, () => {
      if (known.get(resourceId) === kept) known.delete(resourceId)
    })
    return made
  }

  /** Returns the grants as they were last read. */
  get grants(): Grants {
    return this.#grants
  }

  /** Returns the grants for a call of this tool: without its name if another tool was allowed under it. */
  grantsFor(tool: HostTool | undefined): Grants {
    const { categories, tools } = this.#grants
    if (tool === undefined || !tools.includes(tool.name)) return this.#grants
    const isSame = hashesIn(this.#definitions?.get(tool.name)).includes(definitionHash(tool))
    return isSame ? this.#grants : { categories, tools: tools.filter((name) => name !== tool.name) }
  }

  /** Reads what was changed, also by other processes. Returns whether anything was. */
  async refresh(): Promise<boolean> {
    const status = await this.#store.getStream(this.#stream)
    // Callers choose the ids of threads: one that has this name grants nothing to the resource.
    if (status?.kind !== 'session' || status.headSeq === this.#seq) return false
    this.#take((await readStreamState(this.#store, this.#stream)).head)
    return true
  }

  /** Changes the grants on record. Nothing is written where nothing changes, so it may be repeated. */
  write({ by, change, now, owner, tool }: GrantChange): Promise<void> {
    return this.#writes.post(async () => {
      const side = await this.#open(owner, now)
      try {
        const { grants: before, settings: known } = side.log.state.head
        const grants = change(before)
        const settings = { ...revokedIn(before, grants), ...(tool === undefined ? {} : allowedIn(tool, known)) }
        if (Object.keys(settings).length > 0 || !isSame(before, grants)) {
          await side.log.commit([{ type: 'config.changed', grants, settings }], by === undefined ? {} : { by })
        }
        this.#take(side.log.state.head)
      } finally {
        await side.close()
      }
    })
  }

  /** Others hold it only for the moment of a write. */
  async #open(owner: ProcessOwner, now: () => number): Promise<SideLog> {
    const until = performance.now() + HELD_MS
    for (;;) {
      try {
        return await SideLog.open({
          store: this.#store,
          owner,
          stream: this.#stream,
          resourceId: this.#resourceId,
          now,
        })
      } catch (error) {
        if (!InspanError.is(error, 'held') || performance.now() > until) throw error
        await sleep(HELD_POLL_MS)
      }
    }
  }

  #take({ grants, seq, settings }: Head): void {
    this.#seq = seq
    this.#grants = grants
    this.#definitions = settings
  }
}

/** Returns what was allowed for all threads of a resource. */
export async function readResourceGrants(store: Store, resourceId: string): Promise<Grants> {
  const grants = ResourceGrants.of(store, resourceId)
  await grants.refresh()
  return grants.grants
}

/** Returns grants without those of a tool, of a category, or without any. */
export function withoutGrants(
  { categories, tools }: Grants,
  { category, tool }: { readonly category?: string; readonly tool?: string },
): Grants {
  if (category === undefined && tool === undefined) return NO_GRANTS
  return {
    categories: categories.filter((each) => each !== category),
    tools: tools.filter((each) => each !== tool),
  }
}

/** Settings of the stream: the definitions of the tools that were allowed, by name. */
type ToolDefinitions = Readonly<Record<string, JsonValue>>

function allowedIn(tool: HostTool, known: Head['settings']): ToolDefinitions {
  const hash = definitionHash(tool)
  const hashes = hashesIn(known.get(tool.name))
  return hashes.includes(hash) ? {} : { [tool.name]: [...hashes, hash] }
}

function revokedIn(before: Grants, after: Grants): ToolDefinitions {
  const gone = before.tools.filter((name) => !after.tools.includes(name))
  return Object.fromEntries(gone.map((name) => [name, null]))
}

function hashesIn(setting: JsonValue | undefined): readonly JsonValue[] {
  return Array.isArray(setting) ? (setting as readonly JsonValue[]) : []
}

function isSame(a: Grants, b: Grants): boolean {
  return JSON.stringify([a.tools, a.categories]) === JSON.stringify([b.tools, b.categories])
}
