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
import type { FilesPort } from '../thread-options.ts'
import { ThreadRuntime } from '../thread-runtime.ts'
import { ProcessOwner } from '../threads/ownership.ts'
import { createThread } from '../threads/threads.ts'
import type { ThreadCommand } from './thread-command.ts'

/** What is allowed for all threads of the resource. */
export const GRANTS = 'grants:["test"]'

/** The write at which a process dies: just before it, or just after it, when nobody has heard of it yet. */
interface Death {
  readonly at: number
  readonly isAfter: boolean
}

/** Reads change nothing. A new process registers itself before it has anything to lose. */
const SPARED = /^(open|close|get|list|read|latest|has|heartbeat|putOwner|removeOwner)/

/** One process: whatever it writes to may be the place of its death. */
class MortalProcess {
  readonly #death: Death
  readonly #onDeath: () => void
  #writes = 0
  #isDead = false

  constructor(death: Death, onDeath: () => void) {
    this.#death = death
    this.#onDeath = onDeath
  }

  /** Returns the store, or the files, as this process sees them. A dead process neither reads nor writes. */
  sees<Inner extends object>(inner: Inner): Inner {
    return new Proxy(inner, {
      get: (target, name) => {
        const member: unknown = Reflect.get(target, name)
        if (typeof member !== 'function') return member
        const call = member.bind(target) as (...args: unknown[]) => unknown
        if (typeof name !== 'string') return call
        return (...args: unknown[]) => this.#call(() => call(...args), !SPARED.test(name))
      },
    })
  }

  async #call(call: () => unknown, isWrite: boolean): Promise<unknown> {
    const isNow = !this.#isDead && isWrite && this.#writes++ === this.#death.at
    if (isNow && this.#death.isAfter) await call()
    if (isNow) this.#onDeath()
    this.#isDead ||= isNow
    if (this.#isDead) throw new InspanError('closed', 'The process died.')
    return call()
  }
}

/** A thread whose processes die. The next one finds what is in the store. */
export class MortalThread {
  readonly store = new MemoryStore()
  /** How often the tool did something. */
  notes = 0
  /** How many processes died at a write. */
  died = 0
  /** Whether the files are as they were before the message that was rewound to. */
  isRestored = false
  /** Files that somebody else has changed since. */
  conflicts: readonly string[] = []
  readonly #script: readonly ModelTurn[]
  readonly #deaths: Death[]
  readonly #owners: ProcessOwner[] = []
  readonly #files: FilesPort = {
    rewind: async ({ settled }) => {
      if (this.conflicts.length > 0 && settled === undefined) return { report: {}, conflicts: this.conflicts }
      this.isRestored = true
      return { report: { changed: ['a.txt'] }, checkpointId: 'checkpoint' }
    },
  }
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
    for (const stream of ['thread', GRANTS]) {
      const status = await this.store.getStream(stream)
      if (status?.owner !== null && status?.owner !== undefined) {
        await this.store.takeOver(stream, owner.id, status.epoch)
      }
    }
    const death = this.#deaths.shift()
    const process = death === undefined ? undefined : new MortalProcess(death, () => (this.died += 1))
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
      store: process?.sees<Store>(this.store) ?? this.store,
      files: process?.sees(this.#files) ?? this.#files,
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

  async bodies(stream = 'thread'): Promise<RecordBody[]> {
    return (await Array.fromAsync(recordsAfter(this.store, stream, 0))).map(({ body }) => body)
  }

  async close(): Promise<void> {
    await this.runtime?.close().catch(() => undefined)
    for (const owner of this.#owners) await owner.close()
  }
}
