import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { nativeDriver } from '@inspan/agent'
import type { Answer, StoredMessage, Wait } from '@inspan/protocol'
import type { Decision, RunnableTool } from '@inspan/protocol/driver'
import type { Store } from '@inspan/protocol/store'
import { MemoryStore } from '@inspan/stores'
import { scriptedModel, type ModelRequest, type Script, type ScriptedModel } from '@inspan/testing'
import { createThread, ProcessOwner, ThreadRuntime } from '../../engine/index.ts'
import { ThreadControl, type ThreadControlOptions } from '../threads/thread-control.ts'
import { summaryBeforeRun } from './notifications.ts'
import { ThreadPort } from './thread-port.ts'

export interface ThreadBenchOptions {
  readonly script: Script<ModelRequest>
  readonly tools?: (port: ThreadPort) => readonly RunnableTool[]
  readonly store?: Store
  readonly decide?: () => Decision
}

/** One thread with a scripted model and tools, and helpers for tests. */
export class ThreadBench implements AsyncDisposable {
  readonly store: Store
  readonly model: ScriptedModel
  readonly port: ThreadPort
  readonly #options: ThreadBenchOptions
  readonly #tools: readonly RunnableTool[]
  #owner: ProcessOwner | undefined
  #runtime: ThreadRuntime | undefined

  private constructor(options: ThreadBenchOptions) {
    this.#options = options
    this.store = options.store ?? new MemoryStore()
    this.model = scriptedModel(options.script)
    const runtime = (): ThreadRuntime => this.runtime
    this.port = new ThreadPort(
      {
        get state() {
          return runtime().state
        },
        record: (...args) => runtime().record(...args),
        steer: (...args) => runtime().steer(...args),
      },
      this.store,
      { agentId: () => 'native' },
    )
    this.#tools = options.tools?.(this.port) ?? []
  }

  static async open(options: ThreadBenchOptions): Promise<ThreadBench> {
    const bench = new ThreadBench(options)
    if ((await bench.store.getThread('thread')) === null) {
      await createThread(bench.store, { id: 'thread', resourceId: 'test' })
    }
    await bench.restart()
    return bench
  }

  get runtime(): ThreadRuntime {
    if (this.#runtime === undefined) throw new Error('The bench is not open.')
    return this.#runtime
  }

  get owner(): ProcessOwner {
    if (this.#owner === undefined) throw new Error('The bench is not open.')
    return this.#owner
  }

  /** Simulates a new process: what the old one held in memory is gone, and it did not release anything in the store. */
  async restart(): Promise<void> {
    this.#owner = await ProcessOwner.register(this.store)
    const status = await this.store.getStream('thread')
    if (status !== null && status.owner !== null) await this.store.takeOver('thread', this.#owner.id, status.epoch)
    const driver = nativeDriver({ id: 'native', model: this.model })
    this.#runtime = await ThreadRuntime.open({
      store: this.store,
      owner: this.#owner,
      thread: 'thread',
      agents: { native: { driver, tools: this.#tools } },
      beforeRun: (state) => summaryBeforeRun(state, randomUUID),
      ...(this.#options.decide === undefined ? {} : { decide: this.#options.decide }),
    })
  }

  /** Resolves when the run is over or waits. */
  async say(text: string): Promise<void> {
    await this.runtime.submit({ agentId: 'native', parts: [{ id: '0', type: 'text', text }] })
    await this.runtime.idle()
  }

  waits(): readonly Wait[] {
    return [...this.runtime.state.head.waits]
  }

  /** Answers the wait of a call, or the only one there is. Resolves when the run is over or waits again. */
  async answer(answer: Answer, toolCallId?: string): Promise<void> {
    const wait = this.waits().find(({ subject }) => toolCallId === undefined || subject.toolCallId === toolCallId)
    if (wait === undefined) throw new Error(`Nothing waits for ${toolCallId ?? 'an answer'}.`)
    await this.runtime.answer(wait.id, answer)
    await this.runtime.idle()
  }

  async messages(): Promise<readonly StoredMessage[]> {
    return (await this.store.listMessages(this.runtime.state.head.lineage, { order: 'oldest' })).items
  }

  /** The results of the thread's calls, oldest first. */
  async results(): Promise<readonly unknown[]> {
    const parts = (await this.messages()).flatMap((message) => message.parts)
    return parts.flatMap((part) => (part.type === 'tool-result' ? [part.result] : []))
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#runtime?.close().catch(() => undefined)
    await this.#owner?.close()
    await this.store.close()
  }
}

/** Controls the thread of a bench as a harness would, until the test is over. */
export function controlThread(
  t: { after(work: () => Promise<void>): void },
  bench: ThreadBench,
  options: Partial<ThreadControlOptions> & Pick<ThreadControlOptions, 'emit'>,
): ThreadControl {
  const control = new ThreadControl({
    store: bench.store,
    runtime: bench.runtime,
    isOwnRun: () => true,
    agentId: () => 'native',
    planTarget: () => 'build',
    switchMode: async () => undefined,
    entered: () => ({ type: 'config.changed' }),
    handedOff: () => [],
    judgeModel: async () => undefined,
    onFailure: (error) => assert.fail(error),
    ...options,
  })
  t.after(async () => {
    control.close()
    await bench[Symbol.asyncDispose]()
  })
  return control
}
