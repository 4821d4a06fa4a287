import { addUsage, InspanError, type JsonValue } from '@inspan/protocol'
import type { RunnableTool, ToolOutcome, ToolRunContext, ToolSuspension } from '@inspan/protocol/driver'
import { asError, defined, unlessAborted } from '@inspan/protocol/internal'
import type { ChildLink, ThreadState } from '@inspan/protocol/log'
import { type Door, isForeign, ThreadRegistry, type ThreadRuntime } from '../../engine/index.ts'
import { childNoteOf, childRunOf, childThreadOf } from './child-note.ts'
import { prepareChild, type PreparedChild } from './child-thread.ts'
import { OpenChild } from './open-child.ts'
import type { ParentThread } from './parent-thread.ts'
import { subagentsAtWork } from './subagents-at-work.ts'
import type { SubagentRelay } from './subagent-relay.ts'
import { subagentTool, type SubagentOrder } from './subagent-tool.ts'

/**
 * The subagents of one thread. Each works in a hidden thread of its own, which every attempt at its call finds again.
 * The run that called it is parked meanwhile: it waits for the subagent as it would for a person.
 */
export class SubagentRuns {
  readonly tool: RunnableTool
  readonly #parent: ParentThread
  readonly #registry: ThreadRegistry
  /** The subagents at work in this process, by thread. */
  readonly #open = new Map<string, Promise<OpenChild>>()
  readonly #relays = new Map<string, SubagentRelay>()
  readonly #attended = new WeakMap<OpenChild, Promise<void>>()
  readonly #tasks = new Set<Promise<unknown>>()
  readonly #closed = new AbortController()

  constructor(parent: ParentThread) {
    this.#parent = parent
    this.#registry = ThreadRegistry.of(parent.core.store)
    const { subagents = [] } = parent.core.config
    this.tool = subagentTool(subagents, (order, context) => this.#track(this.#delegate(order, context)))
  }

  /** Finds the subagents that an earlier process left at work, and ends those whose run is over. */
  follow(runtime: ThreadRuntime, isOwnRun: (runId: string) => boolean): () => void {
    const { children, run } = runtime.state.head
    const isLost = (link: ChildLink): boolean => run === null && link.background !== true
    const [lost, left] = [[...children].filter(isLost), [...children].filter((link) => !isLost(link))]
    if (lost.length > 0) void this.#track(this.#endAll(lost))
    // Those of a run that was interrupted in the middle of their call are found by that call.
    const waitedFor = new Set([...runtime.state.head.waits].map(childOf))
    for (const link of left) {
      if (link.background === true || waitedFor.has(link.thread)) void this.#track(this.#findAgain(link))
    }
    for (const wait of runtime.state.head.waits) {
      const child = childOf(wait)
      // It ended, and its process died before the answer was written.
      if (child !== undefined && !children.has(child)) void this.#track(this.#tell(child))
    }
    return runtime.onEntry((entry) => {
      if (entry.kind !== 'record' || entry.others === true) return
      const { body } = entry.record
      if (body.type === 'wait.opened') {
        const child = childOf(body.wait)
        if (child !== undefined && !entry.state.head.children.has(child)) void this.#track(this.#tell(child))
      }
      // An interrupted run was only let go of: the process that opens the thread next continues it.
      if (body.type !== 'run.ended' || body.outcome === 'interrupted' || !isOwnRun(body.runId)) return
      const isOver = ({ background }: ChildLink): boolean => background !== true || body.outcome === 'aborted'
      const over = [...entry.state.head.children].filter(isOver)
      if (over.length > 0) void this.#track(this.#endAll(over))
    })
  }

  /** Ends the subagents in the background: nobody wants to hear of them any more. */
  async endBackground(): Promise<void> {
    const { children } = this.#parent.runtime().state.head
    await this.#track(this.#endAll([...children].filter(({ background }) => background === true)))
  }

  /** Lets go of the subagents. They go on when the thread is opened again. */
  close(): void {
    this.#closed.abort(new InspanError('closed', 'The thread is closed.'))
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
    const { core, guests, runtime, threadId } = this.#parent
    const own = await core.store.getThread(threadId)
    if (childNoteOf(own?.metadata ?? {})?.forked === true) return UNAVAILABLE
    const child = childThreadOf(threadId, context.idempotencyKey)
    const atWork = subagentsAtWork(core, own?.root ?? threadId)
    const prepared = await runtime().change(async (log) => {
      const ready = await prepareChild({ core, log, guests, child, order, context, atWork: atWork.size })
      atWork.add(child)
      return ready
    })
    if (!runtime().state.head.children.has(child)) {
      atWork.delete(child)
      return this.#outcomeOf(child)
    }
    const capabilities = await runtime().capabilities()
    const opened = await this.#enter(prepared, context.toolCallId)
    await opened.begin(context)
    const done = this.#attend(opened)
    if (prepared.note.background === true) return started(order)
    // A foreign program waits within its call anyway.
    if (capabilities !== undefined && isForeign(capabilities)) return this.#inCall(opened, done, context.signal)
    const { name } = order.definition
    return { suspend: { kind: 'child', description: `Subagent "${name}" works.`, payload: { [CHILD]: child } } }
  }

  /** Opens the thread of a subagent, once. */
  #enter(prepared: PreparedChild, toolCallId: string): Promise<OpenChild> {
    const { id } = prepared.info
    const known = this.#open.get(id)
    if (known !== undefined) return known
    const { agentType } = prepared.note
    const definition = this.#parent.core.config.subagents?.find((each) => each.id === agentType)
    if (definition === undefined) {
      throw new InspanError('not-found', `There is no subagent "${agentType}" any more.`, {
        hint: 'Add it to the `subagents` of the harness again: one of them was at work.',
      })
    }
    const opening = OpenChild.enter(this.#parent, definition, prepared, toolCallId)
    this.#open.set(id, opening)
    opening.then(
      ({ relay }) => {
        this.#relays.set(id, relay)
        const { background, forked, modelId, task } = prepared.note
        relay.start({ task, modelId, ...(forked ? { forked } : {}), ...defined({ background }) })
      },
      () => this.#open.delete(id),
    )
    return opening
  }

  /** Follows a subagent to its end, and reports that. */
  #attend(opened: OpenChild): Promise<void> {
    const known = this.#attended.get(opened)
    if (known !== undefined) return known
    const attending = this.#track(this.#toItsEnd(opened))
    attending.catch(() => undefined)
    this.#attended.set(opened, attending)
    return attending
  }

  async #toItsEnd(opened: OpenChild): Promise<void> {
    const { info, note } = opened.prepared
    const { core, threadId } = this.#parent
    try {
      await unlessAborted(this.#closed.signal, opened.ended())
      const { state } = opened.runtime
      const outcome = await this.#outcomeIn(state)
      opened.relay.end(outcome.isError === true, core.now(), textOf(outcome))
      if (note.background === true && state.head.lastRun?.outcome !== 'aborted') await this.#notify(opened, outcome)
      await this.#ended(info.id, state)
    } catch (error) {
      this.#report(error)
      throw error
    } finally {
      this.#open.delete(info.id)
      this.#relays.delete(info.id)
      subagentsAtWork(core, info.root ?? threadId).delete(info.id)
      await opened.leave()
    }
    await this.#tell(info.id)
  }

  /** Waits within the call of a foreign program. */
  async #inCall(opened: OpenChild, done: Promise<void>, signal: AbortSignal): Promise<ToolOutcome> {
    try {
      await unlessAborted(signal, done)
    } catch (error) {
      if (signal.aborted && !InspanError.is(signal.reason, 'closed')) {
        opened.relay.end(true, this.#parent.core.now())
        await opened.runtime.cancel()
      }
      throw error
    }
    return this.#outcomeOf(opened.prepared.info.id)
  }

  /** Continues a subagent that an earlier process left at work. */
  async #findAgain({ thread, toolCallId = '' }: ChildLink): Promise<void> {
    const { core } = this.#parent
    try {
      const info = await core.store.getThread(thread)
      const note = childNoteOf(info?.metadata ?? {})
      if (info === null || note === undefined) return
      subagentsAtWork(core, info.root ?? this.#parent.threadId).add(thread)
      await this.#attend(await this.#enter({ info, note }, toolCallId))
    } catch (error) {
      this.#report(error)
    }
  }

  #report(error: unknown): void {
    if (this.#closed.signal.aborted || InspanError.is(error, 'closed')) return
    this.#parent.emit({ type: 'error', error: asError(error) })
  }

  /** Answers the run that waits for a subagent, once that has ended. Nothing happens if no run waits yet. */
  async #tell(child: string): Promise<void> {
    const runtime = this.#parent.runtime()
    const wait = [...runtime.state.head.waits].find((each) => childOf(each) === child)
    if (wait === undefined || this.#closed.signal.aborted) return
    await runtime.answer(wait.id, { decision: 'answer', value: { [CHILD]: child } }).catch((error: unknown) => {
      // Somebody else has told it, or the run was cancelled.
      if (!InspanError.is(error, 'conflict') && !InspanError.is(error, 'not-found') && !InspanError.is(error, 'closed'))
        throw error
    })
  }

  /** Only the first notification of a subagent counts, in whatever process. */
  async #notify({ prepared: { info, note } }: OpenChild, outcome: ToolOutcome): Promise<void> {
    const said = textOf(outcome)
    const how = outcome.isError === true ? 'did not finish' : 'has finished'
    await this.#parent.notify({
      source: 'subagent',
      kind: outcome.isError === true ? 'failed' : 'finished',
      priority: 'urgent',
      summary: `Subagent "${note.agentType}" ${how}. Its task was: ${note.task}\n\n${said}`,
      payload: { agentType: note.agentType, task: note.task, result: said, threadId: info.id },
      dedupeKey: info.id,
    })
  }

  /** Returns what a subagent that has ended said. */
  #outcomeOf(child: string): Promise<ToolOutcome> {
    return this.#within(child, 'read', ({ state }) => this.#outcomeIn(state))
  }

  /** Opens the thread of a subagent for some work besides that of the subagent itself. */
  async #within<T>(thread: string, name: string, work: (runtime: ThreadRuntime) => Promise<T>): Promise<T> {
    const door: Door = { door: name, agents: {} }
    const runtime = await this.#registry.enter(thread, door)
    try {
      return await work(runtime)
    } finally {
      await this.#registry.leave(thread, door)
    }
  }

  async #outcomeIn({ head }: ThreadState): Promise<ToolOutcome> {
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

  /** Cancels subagents that nobody waits for any more. */
  async #endAll(children: readonly ChildLink[]): Promise<void> {
    // The parent's listeners hear of the end before that of the run.
    for (const { thread } of children) this.#relays.get(thread)?.end(true, this.#parent.core.now())
    for (const { thread } of children) {
      try {
        await this.#within(thread, 'cancel', async (runtime) => {
          await runtime.cancel()
          await this.#ended(thread, runtime.state)
        })
      } catch (error) {
        this.#report(error)
      }
    }
  }
}

const CHILD = 'threadId'

/** Returns the subagent that a wait is for. */
function childOf({
  kind,
  payload,
}: {
  readonly kind: string
  readonly payload?: { readonly [key: string]: JsonValue }
}): string | undefined {
  const child = kind === 'child' ? payload?.[CHILD] : undefined
  return typeof child === 'string' ? child : undefined
}

function started({ definition }: SubagentOrder): ToolOutcome {
  const content = `Subagent "${definition.name}" works in the background. You will be notified of its result; go on meanwhile.`
  return { result: { content, isError: false } }
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
