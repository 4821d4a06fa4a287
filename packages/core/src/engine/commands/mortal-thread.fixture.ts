import assert from 'node:assert/strict'
import { createTool, nativeDriver, runnableTool } from '@inspan/agent'
import { InspanError, NO_RULES } from '@inspan/protocol'
import type { RecordBody, ThreadState } from '@inspan/protocol/log'
import type { CommandKey, Store } from '@inspan/protocol/store'
import type { CommandResult } from '@inspan/protocol/wire'
import { MemoryStore } from '@inspan/stores'
import { scriptedModel, type ModelTurn } from '@inspan/testing'
import { z } from 'zod'
import { createPolicy } from '../../policy/index.ts'
import { recordsAfter } from '../log/load-state.ts'
import { ThreadRuntime } from '../thread-runtime.ts'
import { ProcessOwner } from '../threads/ownership.ts'
import { createThread } from '../threads/threads.ts'
import type { ThreadCommand } from './thread-command.ts'

/** The write at which a process dies: just before it, or just after it, when nobody has heard of it yet. */
interface Death {
  readonly at: number
  readonly isAfter: boolean
}

/** Reads change nothing. A new process registers itself before it has anything to lose. */
const SPARED = /^(open|close|get|list|read|latest|has|heartbeat|putOwner|removeOwner)/

/** The store as a process sees it that dies at one write. A dead process neither reads nor writes. */
function mortal(inner: Store, death: Death, onDeath: () => void): Store {
  let count = 0
  let isDead = false
  return new Proxy(inner, {
    get(target, name) {
      const member: unknown = Reflect.get(target, name)
      if (typeof member !== 'function') return member
      const call = member.bind(target) as (...args: unknown[]) => unknown
      if (typeof name !== 'string') return call
      return async (...args: unknown[]) => {
        const isNow = !isDead && !SPARED.test(name) && count++ === death.at
        if (isNow && death.isAfter) await call(...args)
        if (isNow) onDeath()
        isDead ||= isNow
        if (isDead) throw new InspanError('closed', 'The process died.')
        return call(...args)
      }
    },
  })
}

/** A thread whose processes die. The next one finds what is in the store. */
export class MortalThread {
  readonly store = new MemoryStore()
  /** How often the tool did something. */
  notes = 0
  /** How many processes died at a write. */
  died = 0
  readonly #script: readonly ModelTurn[]
  readonly #deaths: Death[]
  readonly #owners: ProcessOwner[] = []
  runtime: ThreadRuntime | undefined

  private constructor(script: readonly ModelTurn[], deaths: readonly Death[]) {
    this.#script = script
    this.#deaths = [...deaths]
  }

  static async create(script: readonly ModelTurn[], deaths: readonly Death[] = []): Promise<MortalThread> {
    const thread = new MortalThread(script, deaths)
    await createThread(thread.store, { id: 'thread', resourceId: 'test' })
    return thread
  }

  /** Ends the process in order, and lets the next one die. */
  async restart(death: Death): Promise<void> {
    await this.runtime?.close()
    this.runtime = undefined
    this.#deaths.push(death)
  }

  async open(): Promise<ThreadRuntime> {
    const owner = await ProcessOwner.register(this.store)
    this.#owners.push(owner)
    const status = await this.store.getStream('thread')
    if (status?.owner !== null && status?.owner !== undefined) {
      await this.store.takeOver('thread', owner.id, status.epoch)
    }
    const death = this.#deaths.shift()
    const note = createTool({
      id: 'note',
      description: 'Writes a note.',
      inputSchema: z.object({}),
      execute: async () => {
        this.notes += 1
        return 'noted'
      },
    })
    const driver = nativeDriver({ id: 'native', model: scriptedModel(this.#script) })
    this.runtime = await ThreadRuntime.open({
      store: death === undefined ? this.store : mortal(this.store, death, () => (this.died += 1)),
      owner,
      thread: 'thread',
      policy: createPolicy({ rules: NO_RULES }),
      agents: { native: { driver, tools: [runnableTool(note)] } },
    })
    return this.runtime
  }

  /** Returns the state as the newest process knows it. */
  async state(): Promise<ThreadState> {
    for (let attempt = 0; attempt < 20; attempt++) {
      try {
        this.runtime ??= await this.open()
        return this.runtime.state
      } catch {
        this.runtime = undefined
      }
    }
    assert.fail('The thread could not be opened.')
  }

  /** Sends a command until somebody knows what became of it. */
  async send(command: ThreadCommand, key: CommandKey): Promise<CommandResult> {
    for (let attempt = 0; attempt < 20; attempt++) {
      try {
        this.runtime ??= await this.open()
        return await this.runtime.execute(command, key)
      } catch {
        const dead = this.runtime
        this.runtime = undefined
        await dead?.close().catch(() => undefined)
        // A deleted thread cannot be opened: what became of the command is in the table.
        const row = await this.store.getCommand(key)
        if (row?.state === 'done') return row.outcome as unknown as CommandResult
      }
    }
    assert.fail('The command never had a result.')
  }

  async bodies(): Promise<RecordBody[]> {
    return (await Array.fromAsync(recordsAfter(this.store, 'thread', 0))).map(({ body }) => body)
  }

  async close(): Promise<void> {
    await this.runtime?.close().catch(() => undefined)
    for (const owner of this.#owners) await owner.close()
  }
}
