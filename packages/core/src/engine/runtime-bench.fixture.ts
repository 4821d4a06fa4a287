import { NO_RULES, type Wait } from '@inspan/protocol'
import type { LogRecord, RecordBody, RecordType } from '@inspan/protocol/log'
import type { Store } from '@inspan/protocol/store'
import { MemoryStore } from '@inspan/stores'
import { createPolicy } from '../policy/index.ts'
import type { RunHandle, RuntimeAgents } from './turns/active-run.ts'
import { recordsAfter } from './log/load-state.ts'
import { ProcessOwner } from './threads/ownership.ts'
import { ThreadRuntime } from './thread-runtime.ts'
import type { Submission, ThreadRuntimeOptions } from './thread-options.ts'
import { createThread } from './threads/threads.ts'

/** A thread with rules that ask, and access to its records. */
export class RuntimeBench implements AsyncDisposable {
  readonly store: Store
  readonly #agents: RuntimeAgents
  readonly #options: Partial<ThreadRuntimeOptions>
  readonly #left: ThreadRuntime[] = []
  readonly #owners: ProcessOwner[] = []
  runtime!: ThreadRuntime

  private constructor(agents: RuntimeAgents, options: Partial<ThreadRuntimeOptions>) {
    this.#agents = agents
    this.#options = options
    this.store = options.store ?? new MemoryStore()
  }

  static async open(agents: RuntimeAgents, options: Partial<ThreadRuntimeOptions> = {}): Promise<RuntimeBench> {
    const bench = new RuntimeBench(agents, options)
    await createThread(bench.store, { id: 'thread', resourceId: 'test' })
    await bench.restart()
    return bench
  }

  /** Simulates a new process: everything the old one held in memory is gone, and it told the store nothing. */
  async restart(options: Partial<ThreadRuntimeOptions> = {}): Promise<void> {
    const owner = await ProcessOwner.register(this.store)
    this.#owners.push(owner)
    const status = await this.store.getStream('thread')
    if (status !== null && status.owner !== null) await this.store.takeOver('thread', owner.id, status.epoch)
    this.runtime = await ThreadRuntime.open({
      policy: createPolicy({ rules: NO_RULES }),
      ...this.#options,
      ...options,
      store: this.store,
      owner,
      thread: 'thread',
      agents: options.agents ?? this.#agents,
    })
    this.#left.push(this.runtime)
  }

  submit(text: string, submission: Partial<Submission> & { agentId: string }): Promise<RunHandle> {
    return this.runtime.submit({ parts: [{ id: '0', type: 'text', text }], ...submission })
  }

  isRunning(): boolean {
    return this.runtime.run !== undefined
  }

  /** Resolves with the next open wait. */
  async wait(): Promise<Wait> {
    const [wait] = await this.waits(1)
    if (wait === undefined) throw new Error('There is no question.')
    return wait
  }

  async waits(count: number): Promise<Wait[]> {
    await this.until(() => this.runtime.state.head.waits.size >= count)
    return [...this.runtime.state.head.waits]
  }

  async until(condition: () => boolean): Promise<void> {
    while (!condition()) await new Promise((resolve) => setImmediate(resolve))
  }

  async records(): Promise<LogRecord[]> {
    return Array.fromAsync(recordsAfter(this.store, 'thread', 0))
  }

  async bodies<T extends RecordType>(type: T): Promise<Extract<RecordBody, { type: T }>[]> {
    const isWanted = (body: RecordBody): body is Extract<RecordBody, { type: T }> => body.type === type
    return (await this.records()).map(({ body }) => body).filter(isWanted)
  }

  /** Closes all runtimes, whichever has the thread; failures are ignored. */
  async closeAll(): Promise<void> {
    for (const runtime of this.#left) await runtime.close().catch(() => undefined)
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.closeAll()
    for (const owner of this.#owners) await owner.close()
    await this.store.close()
  }
}
