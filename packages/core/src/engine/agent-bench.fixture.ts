import { Agent, type AgentOptions } from '@inspan/agent'
import type { AgentEvent, StoredMessage, Wait } from '@inspan/protocol'
import { agentEventsOf, type LogRecord, type NoteRecord, type RunOutcome } from '@inspan/protocol/log'
import { MemoryStore } from '@inspan/stores'
import { scriptedModel, type ScriptedModel, type ScriptedModelOptions } from '@inspan/testing'
import type { RunHandle } from './turns/active-run.ts'
import { recordsAfter } from './log/load-state.ts'
import { ProcessOwner } from './threads/ownership.ts'
import { runtimeAgent } from './turns/runtime-agent.ts'
import type { ThreadRuntimeOptions } from './thread-options.ts'
import { ThreadRuntime } from './thread-runtime.ts'
import type { Submission } from './thread-options.ts'
import { boundaryAt } from './threads/boundaries.ts'
import { createThread, forkThread } from './threads/threads.ts'

export type ModelScript = Parameters<typeof scriptedModel>[0]

/** Retries without noticeable delay. */
export const AT_ONCE = { initialDelayMs: 1, maxDelayMs: 1 } as const

export interface AgentBenchOptions {
  readonly agent?: Omit<AgentOptions, 'id' | 'model'> & Partial<Pick<AgentOptions, 'model'>>
  readonly model?: ScriptedModelOptions
  readonly runtime?: Partial<ThreadRuntimeOptions>
}

/** An agent with a scripted model on a thread in memory, and access to everything recorded there. */
export class AgentBench implements AsyncDisposable {
  readonly store = new MemoryStore()
  readonly model: ScriptedModel
  readonly #options: AgentBenchOptions
  #thread = 'thread'
  #opened: { readonly runtime: ThreadRuntime; readonly owner: ProcessOwner } | undefined

  private constructor(script: ModelScript, options: AgentBenchOptions) {
    this.model = scriptedModel(script, options.model)
    this.#options = options
  }

  static async open(script: ModelScript, options: AgentBenchOptions = {}): Promise<AgentBench> {
    const bench = new AgentBench(script, options)
    await createThread(bench.store, { id: 'thread', resourceId: 'test' })
    await bench.restart()
    return bench
  }

  get runtime(): ThreadRuntime {
    if (this.#opened === undefined) throw new Error('The bench is not open.')
    return this.#opened.runtime
  }

  /** Simulates a new process: everything the old one held in memory is gone, and it told the store nothing. */
  async restart(): Promise<void> {
    const owner = await ProcessOwner.register(this.store)
    const status = await this.store.getStream(this.#thread)
    if (status !== null && status.owner !== null) await this.store.takeOver(this.#thread, owner.id, status.epoch)
    const agent = new Agent({ id: 'native', model: this.model, retry: AT_ONCE, ...this.#options.agent })
    const runtime = await ThreadRuntime.open({
      store: this.store,
      owner,
      thread: this.#thread,
      agents: { native: runtimeAgent(agent) },
      ...this.#options.runtime,
    })
    this.#opened = { runtime, owner }
  }

  /** Forks the thread at or before this record, and continues with the fork. */
  async fork(upTo: number): Promise<void> {
    const { owner, runtime } = this.#opened ?? {}
    if (owner === undefined || runtime === undefined) throw new Error('The bench is not open.')
    const at = await boundaryAt(this.store, runtime.state.head.lineage, upTo)
    this.#thread = (await forkThread(this.store, owner, runtime.state, { resourceId: 'test', at })).id
    await this.restart()
  }

  async submit(text: string, more: Partial<Submission> = {}): Promise<RunHandle> {
    return this.runtime.submit({ agentId: 'native', parts: [{ id: '0', type: 'text', text }], ...more })
  }

  /** Plays one run from its message to its end. */
  async play(text = 'Go.', more: Partial<Submission> = {}): Promise<RunOutcome> {
    return (await this.submit(text, more)).done
  }

  /** Resolves with the next open wait. */
  async wait(): Promise<Wait> {
    for (;;) {
      const [wait] = [...this.runtime.state.head.waits]
      if (wait !== undefined) return wait
      await new Promise((resolve) => setImmediate(resolve))
    }
  }

  async records(): Promise<LogRecord[]> {
    return Array.fromAsync(recordsAfter(this.store, 'thread', 0))
  }

  async events(): Promise<AgentEvent[]> {
    return (await this.records()).flatMap(agentEventsOf)
  }

  async eventsOf<Type extends AgentEvent['type']>(type: Type): Promise<Extract<AgentEvent, { type: Type }>[]> {
    const events = await this.events()
    return events.filter((event): event is Extract<AgentEvent, { type: Type }> => event.type === type)
  }

  async notes(kind: NoteRecord['kind']): Promise<NoteRecord[]> {
    return (await this.records()).flatMap(({ body }) => (body.type === 'note' && body.kind === kind ? [body] : []))
  }

  async messages(): Promise<readonly StoredMessage[]> {
    return (await this.store.listMessages(this.runtime.state.head.lineage, { order: 'oldest' })).items
  }

  /** Returns the prompts the model got, as JSON text message by message. */
  prompts(): string[][] {
    return this.model.requests.map(({ prompt }) =>
      (prompt as readonly unknown[]).map((message) => JSON.stringify(message)),
    )
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#opened?.runtime.close().catch(() => undefined)
    await this.#opened?.owner.close()
    await this.store.close()
  }
}
