import { RequestContext } from '@inspan/agent'
import { addUsage, InspanError } from '@inspan/protocol'
import type { RunnableTool, ToolOutcome, ToolRunContext, ToolSuspension } from '@inspan/protocol/driver'
import type { HarnessEvent } from '@inspan/protocol/harness'
import { unlessAborted } from '@inspan/protocol/internal'
import type { ChildLink, ThreadState } from '@inspan/protocol/log'
import { ThreadRegistry, type Door, type ThreadRuntime } from '../../engine/index.ts'
import type { RuntimeAgent, RuntimeAgents } from '../../engine/turns/active-run.ts'
import type { ThreadEquipment } from '../agents/mode-agents.ts'
import type { HarnessCore, ThreadViewer } from '../harness-core.ts'
import { childRunOf, childThreadOf, childNoteOf } from './child-note.ts'
import { prepareChild, type PreparedChild } from './child-thread.ts'
import { childViewer } from './child-viewer.ts'
import { forkedAgent } from './forked-agent.ts'
import { subagentAgent } from './subagent-agent.ts'
import { passedBack, passedOn, questionIn } from './subagent-question.ts'
import { SubagentRelay } from './subagent-relay.ts'
import { SubagentRefused, subagentTool, type SubagentOrder } from './subagent-tool.ts'

const DEFAULT_CONCURRENT = 8

/** How the door to a subagent's thread differs from that of a session. */
export interface ChildDoor {
  readonly door: string
  readonly doorKey: string
  readonly agents: (equipment: ThreadEquipment) => RuntimeAgents
}

/** The door to a subagent's thread. */
export interface OpenChild {
  readonly door: Door
  begin(runtime: ThreadRuntime): void
  close(): void
  settled(): Promise<void>
}

/** The thread that starts subagents. */
export interface ParentThread {
  readonly core: HarnessCore
  readonly threadId: string
  readonly viewers: ReadonlySet<ThreadViewer>
  readonly runtime: () => ThreadRuntime
  readonly emit: (event: HarnessEvent) => void
  readonly doorTo: (threadId: string, viewers: ReadonlySet<ThreadViewer>, child: ChildDoor) => OpenChild
}

/** The subagents of one thread. Each works in a hidden thread of its own, which every attempt at its call finds again. */
export class SubagentRuns {
  readonly tool: RunnableTool
  readonly #parent: ParentThread
  readonly #registry: ThreadRegistry
  readonly #relays = new Map<string, SubagentRelay>()
  readonly #working = new Set<string>()
  readonly #tasks = new Set<Promise<unknown>>()

  constructor(parent: ParentThread) {
    this.#parent = parent
    this.#registry = ThreadRegistry.of(parent.core.store)
    const { subagents = [] } = parent.core.config
    this.tool = subagentTool(subagents, (order, context) => this.#track(this.#delegate(order, context)))
  }

  /** Ends the subagents that are left when their run is over. Returns the function that stops listening. */
  follow(runtime: ThreadRuntime, isOwnRun: (runId: string) => boolean): () => void {
    const { children, run } = runtime.state.head
    if (run === null && children.size > 0) void this.#track(this.#endAll([...children]))
    return runtime.onEntry((entry) => {
      if (entry.kind !== 'record' || entry.others === true || entry.record.body.type !== 'run.ended') return
      const { outcome, runId } = entry.record.body
      // An interrupted run was only let go of: whoever opens the thread next ends what is left of it.
      if (outcome === 'interrupted' || !isOwnRun(runId)) return
      const left = [...entry.state.head.children].filter(({ thread }) => !this.#working.has(thread))
      if (left.length > 0) void this.#track(this.#endAll(left))
    })
  }

  /** Resolves when nothing more is done in threads of subagents. */
  async settled(): Promise<void> {
    while (this.#tasks.size > 0) await Promise.allSettled(this.#tasks)
  }

  #track<T>(work: Promise<T>): Promise<T> {
    this.#tasks.add(work)
    const done = (): void => void this.#tasks.delete(work)
    work.then(done, done)
    return work
  }

  async #delegate(order: SubagentOrder, context: ToolRunContext): Promise<ToolOutcome | ToolSuspension> {
    const { core, runtime, threadId, viewers } = this.#parent
    const own = await core.store.getThread(threadId)
    if (childNoteOf(own?.metadata ?? {})?.forked === true) return UNAVAILABLE
    const child = childThreadOf(threadId, context.idempotencyKey)
    const max = core.config.subagentLimits?.concurrent ?? DEFAULT_CONCURRENT
    const prepared = await runtime().change((log) => {
      if (this.#working.size >= max) {
        throw new SubagentRefused(`${max} subagents work already, which is the limit. Wait for one of them.`)
      }
      this.#working.add(child)
      return prepareChild({ core, log, viewers, child, order, context }).catch((error: unknown) => {
        this.#working.delete(child)
        throw error
      })
    })
    try {
      return await this.#work(order, prepared, context)
    } finally {
      this.#working.delete(child)
    }
  }

  async #work(
    order: SubagentOrder,
    prepared: PreparedChild,
    context: ToolRunContext,
  ): Promise<ToolOutcome | ToolSuspension> {
    const { signal } = context
    const child = prepared.info.id
    const relay = this.#relayOf(prepared, context.toolCallId)
    const { door, viewer } = this.#doorTo(order, prepared)
    const stops: (() => void)[] = []
    const runtime = await this.#registry.enter(child, door.door, async (opened) => {
      door.begin(opened)
      stops.push(
        opened.onEntry((entry) => relay.entry(entry)),
        ...this.#followYolo(opened),
      )
      const { yolo } = this.#parent.runtime().state.head
      if (opened.state.head.yolo !== yolo) await opened.configure({ yolo })
    })
    const isCancelled = (): boolean => signal.aborted && !InspanError.is(signal.reason, 'closed')
    // The parent's listeners hear of the end before that of the run.
    const onAbort = (): void => (isCancelled() ? relay.end(true) : undefined)
    signal.addEventListener('abort', onAbort, { once: true })
    try {
      await this.#answer(runtime, context)
      await this.#begin(runtime, prepared, viewer, door.door, context)
      await unlessAborted(signal, untilSettled(runtime))
      const question = questionIn(runtime.state.head.waits)
      if (runtime.state.head.run !== null && question !== undefined) {
        return passedOn(question, order.definition.name, child, prepared.note)
      }
      await this.#ended(child, runtime.state)
      const outcome = await this.#outcome(runtime.state)
      relay.end(outcome.isError === true, textOf(outcome))
      this.#relays.delete(child)
      return outcome
    } catch (error) {
      if (isCancelled()) {
        await runtime.cancel()
        await this.#ended(child, runtime.state)
      }
      if (!signal.aborted || isCancelled()) {
        relay.end(true, error instanceof Error && !signal.aborted ? error.message : undefined)
        this.#relays.delete(child)
      }
      throw error
    } finally {
      signal.removeEventListener('abort', onAbort)
      stops.forEach((stop) => stop())
      await this.#registry.leave(child, door.door).finally(() => door.close())
      await door.settled()
    }
  }

  #relayOf({ info, note }: PreparedChild, toolCallId: string): SubagentRelay {
    const known = this.#relays.get(info.id)
    if (known !== undefined) return known
    const { core, emit } = this.#parent
    const { agentType } = note
    const relay = new SubagentRelay({ toolCallId, agentType, emit, startedAt: info.createdAt, now: core.now })
    this.#relays.set(info.id, relay)
    relay.start(note)
    return relay
  }

  #doorTo(order: SubagentOrder, { info, note }: PreparedChild): { readonly door: OpenChild; viewer: ThreadViewer } {
    const { core, doorTo, emit, runtime, viewers } = this.#parent
    const { definition } = order
    const forkOf = (agent: RuntimeAgent | undefined): RuntimeAgent | undefined =>
      agent && forkedAgent(agent, core.store, info.forkedFrom?.at ?? 0)
    const viewer = childViewer(viewers, () => runtime().state, emit)
    const door = doorTo(info.id, new Set([viewer]), {
      door: `${core.config.id}/subagents`,
      doorKey: `${core.doorKey}/subagents`,
      agents: (equipment) => {
        if (note.forked) return (agentId) => forkOf(core.agents.runtimeAgent(agentId, equipment))
        const parentAgent = core.agents.of(core.agents.modeOf(runtime().state))
        const agent = subagentAgent({ core, definition, note, equipment, parentAgent })
        return { [note.agentId]: agent }
      },
    })
    return { door, viewer }
  }

  /** A subagent is asked whenever its parent is. */
  #followYolo(child: ThreadRuntime): (() => void)[] {
    return [
      this.#parent.runtime().onEntry((entry) => {
        if (entry.kind !== 'record' || entry.record.body.type !== 'config.changed') return
        const { yolo } = entry.record.body
        if (yolo !== undefined) child.configure({ yolo }).catch(() => undefined)
      }),
    ]
  }

  /** Passes an answer on, unless an attempt that was interrupted has done so. */
  async #answer(runtime: ThreadRuntime, { resume, suspended }: ToolRunContext): Promise<void> {
    const waitId = suspended?.['waitId']
    if (resume === undefined || typeof waitId !== 'string') return
    const wait = runtime.state.head.waits.get(waitId)
    if (wait !== undefined) await runtime.answer(waitId, passedBack(wait, resume))
  }

  async #begin(
    runtime: ThreadRuntime,
    { info, note }: PreparedChild,
    viewer: ThreadViewer,
    { doorKey }: Door,
    context: ToolRunContext,
  ): Promise<void> {
    const { core } = this.#parent
    if (runtime.state.head.run !== null || runtime.state.head.lastRun !== null) return
    const { requestContext, runId } = context
    const messageId = `${info.id}-task`
    const given = new RequestContext(core.contexts.of(runId, requestContext).entries())
    given.delete('harness')
    core.contexts.keep(messageId, given, viewer)
    try {
      await runtime.submit({
        agentId: note.agentId,
        parts: [{ id: '0', type: 'text', text: note.task }],
        messageId,
        runId: childRunOf(info.id),
        ...(doorKey === undefined ? {} : { door: doorKey }),
        ...(requestContext === undefined ? {} : { requestContext }),
        ...(note.budget === undefined ? {} : { turn: { budget: note.budget } }),
      })
    } catch (error) {
      core.contexts.drop(messageId)
      throw error
    }
  }

  async #outcome({ head }: ThreadState): Promise<ToolOutcome> {
    const { items } = await this.#parent.core.store.listMessages(head.lineage, { order: 'newest', limit: 1 })
    const [last] = items
    const said = last?.role === 'assistant' && last.parentToolCallId === undefined ? [...last.parts] : []
    const text = said.flatMap((part) => (part.type === 'text' ? [part.text] : [])).join('')
    const { error, outcome = 'error' } = head.lastRun ?? {}
    if (outcome === 'complete') {
      const content = text === '' ? 'The subagent ended without an answer.' : text
      return { result: { content, isError: false } }
    }
    const why = error?.message ?? (outcome === 'error' ? 'it failed' : `it was ${outcome}`)
    const content = `The subagent did not finish: ${why}${text === '' ? '' : `\nIts last words: ${text}`}`
    return { result: { content, isError: true }, isError: true }
  }

  /** Records the end in the parent, with what the subagent and its own subagents used. Only the first time counts. */
  async #ended(child: string, { head }: ThreadState): Promise<void> {
    const { own, subagents } = head.usage
    const { costUsd, ...tokens } = addUsage(own, subagents)
    const usage = { ...tokens, ...(costUsd === 0 ? {} : { costUsd }), source: 'reported', scope: 'subagents' } as const
    const { outcome = 'aborted', runId = childRunOf(child) } = head.lastRun ?? {}
    const count = tokens.totalTokens === 0 && costUsd === 0 ? {} : { usage }
    await this.#parent.runtime().change(async (log) => {
      const { children, run } = log.state.head
      if (!children.has(child)) return
      const origin = run === null ? {} : { run: run.runId }
      await log.commit([{ type: 'child.ended', thread: child, runId, outcome, ...count }], origin)
    })
  }

  /** Cancels subagents that nobody waits for any more, without going on with their work. */
  async #endAll(children: readonly ChildLink[]): Promise<void> {
    for (const { thread } of children) {
      this.#relays.get(thread)?.end(true)
      this.#relays.delete(thread)
      const door: Door = { door: 'cancel', agents: {} }
      try {
        const runtime = await this.#registry.enter(thread, door)
        try {
          await runtime.cancel()
          await this.#ended(thread, runtime.state)
        } finally {
          await this.#registry.leave(thread, door)
        }
      } catch (error) {
        if (InspanError.is(error, 'closed')) continue
        this.#parent.emit({ type: 'error', error: error instanceof Error ? error : new Error(String(error)) })
      }
    }
  }
}

const UNAVAILABLE: ToolOutcome = {
  result: {
    content: 'The tool is unavailable inside a forked subagent. Do the task yourself with your other tools.',
    isError: false,
  },
}

function textOf({ result }: ToolOutcome): string {
  const content: unknown = typeof result === 'object' && result !== null ? Reflect.get(result, 'content') : result
  return typeof content === 'string' ? content : JSON.stringify(content ?? '')
}

/** Resolves when the run is over, or goes no further without a person. Limits and subagents settle by themselves. */
async function untilSettled(runtime: ThreadRuntime): Promise<void> {
  for (;;) {
    await runtime.idle()
    const { run, waits } = runtime.state.head
    if (run === null || questionIn(waits) !== undefined) return
    const changed = Promise.withResolvers<void>()
    const stop = runtime.onEntry((entry) => {
      if (entry.kind === 'record' && CHANGES.has(entry.record.body.type)) changed.resolve()
    })
    await changed.promise.finally(stop)
  }
}

const CHANGES: ReadonlySet<string> = new Set(['run.resumed', 'run.ended', 'wait.opened', 'wait.answered'])
