import { setTimeout } from 'node:timers/promises'
import { InspanError, type JsonObject } from '@inspan/protocol'
import type { Fence, Store, ThreadInfo } from '@inspan/protocol/store'
import { allItems, createThread, type ProcessOwner } from '@inspan/core/engine'
import { AgentSDKError } from '../errors.ts'
import {
  checkAgentId,
  identityRecord,
  readIdentity,
  type AgentIdentity,
  type FoundIdentities,
  type Identities,
} from '../identity-files.ts'

const CLAIM_ATTEMPTS = 200
const CLAIM_PAUSE_MS = 20

/** The row of an agent that was destroyed. It stays, so that its id can be given again without a race. */
const GONE: JsonObject = { isGone: true }

/**
 * One row per agent in a store that several machines share, in place of its file: a hidden thread without messages,
 * whose metadata is the identity. Rows are changed by whoever owns the thread at that moment, like every thread.
 */
export class IdentityRows implements Identities {
  readonly #store: Store
  readonly #harnessId: string
  readonly #owner: () => Promise<ProcessOwner>

  constructor(store: Store, harnessId: string, owner: () => Promise<ProcessOwner>) {
    this.#store = store
    this.#harnessId = harnessId
    this.#owner = owner
  }

  async reserve(identity: AgentIdentity): Promise<void> {
    checkAgentId(identity.agentId)
    const id = this.#rowOf(identity.agentId)
    const metadata = this.#metadata(identity)
    try {
      await createThread(this.#store, { id, resourceId: this.#harnessId, hidden: true, metadata })
    } catch (error) {
      if (!InspanError.is(error, 'already-exists')) throw error
      // Looked at before the row is claimed as well: its creator is about to write it, and a claim would be in its way.
      await this.#requireGone(identity.agentId)
      await this.#owning(id, async (fence) => {
        await this.#requireGone(identity.agentId)
        await this.#put(id, fence, metadata)
      })
    }
  }

  async write(identity: AgentIdentity): Promise<void> {
    const { agentId } = identity
    const id = this.#rowOf(agentId)
    await this.#owning(id, async (fence) => {
      if (isGone(await this.#store.getThread(id))) {
        throw new AgentSDKError('AGENT_NOT_FOUND', `The agent "${agentId}" was destroyed by another manager.`)
      }
      await this.#put(id, fence, this.#metadata(identity))
    })
  }

  async remove(agentId: string): Promise<void> {
    const id = this.#rowOf(agentId)
    await this.#owning(id, (fence) => this.#put(id, fence, GONE))
  }

  async read(): Promise<FoundIdentities> {
    const agents: AgentIdentity[] = []
    const skipped: FoundIdentities['skipped'][number][] = []
    const resourceId = this.#harnessId
    const list = (cursor: { readonly cursor?: string }): ReturnType<Store['listThreads']> =>
      this.#store.listThreads({ resourceId, includeHidden: true, ...cursor })
    for await (const row of allItems(list)) {
      if (!row.id.startsWith(this.#rowOf('')) || isGone(row)) continue
      try {
        if (row.damaged !== undefined) throw new Error(row.damaged)
        agents.push(readIdentity(row.metadata, row.id.slice(this.#rowOf('').length)))
      } catch (error) {
        skipped.push({ name: `The row ${row.id}`, reason: error instanceof Error ? error.message : String(error) })
      }
    }
    return { agents: agents.sort((a, b) => (a.agentId < b.agentId ? -1 : 1)), skipped }
  }

  async #requireGone(agentId: string): Promise<void> {
    if (isGone(await this.#store.getThread(this.#rowOf(agentId)))) return
    throw new AgentSDKError('AGENT_ALREADY_EXISTS', `There is an agent "${agentId}" already.`, {
      hint: 'Another manager on this store created it. A manager has it after its next start.',
    })
  }

  #metadata(identity: AgentIdentity): JsonObject {
    return JSON.parse(JSON.stringify(identityRecord(identity, this.#harnessId)))
  }

  async #put(stream: string, fence: Fence, metadata: JsonObject): Promise<void> {
    await this.#store.append({ stream, fence, records: [], thread: { metadata } })
  }

  async #owning(stream: string, change: (fence: Fence) => Promise<void>): Promise<void> {
    const owner = await this.#owner()
    const fence = await claimWhenFree(owner, stream)
    try {
      await change(fence)
    } finally {
      await owner.release(stream, fence)
    }
  }

  #rowOf(agentId: string): string {
    return `agent/${this.#harnessId}/${agentId}`
  }
}

/** Another manager holds a row only while it writes it, so whoever finds it held tries again. */
async function claimWhenFree(owner: ProcessOwner, stream: string): Promise<Fence> {
  for (let attempt = 1; ; attempt += 1) {
    try {
      return await owner.claim(stream)
    } catch (error) {
      if (!InspanError.is(error, 'held') || attempt === CLAIM_ATTEMPTS) throw error
      await setTimeout(CLAIM_PAUSE_MS)
    }
  }
}

function isGone(row: ThreadInfo | null): boolean {
  return row?.metadata['isGone'] === true
}
