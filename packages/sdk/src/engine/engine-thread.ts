import { InspanError, NO_RULES, type Part, type PermissionRules, type Wait } from '@inspan/protocol'
import {
  fromChatMessage,
  type ChatMessage,
  type ChatToolResultInfo,
  type StreamOptions,
  type ToolApprovalMode,
} from '@inspan/protocol/chat'
import type { MemoryServices, MemoryThread } from '@inspan/protocol/driver'
import type { ThreadState } from '@inspan/protocol/log'
import type { Store } from '@inspan/protocol/store'
import { createPolicy } from '@inspan/core/policy'
import {
  clearHistory,
  compactThread,
  rewindThread,
  type ConfigChange,
  type Door,
  type LogEntry,
  type Submission,
  type ThreadRegistry,
  type ThreadRuntime,
} from '@inspan/core/engine'
import { resolveToolApprovalMode } from '../chat-options.ts'
import { ChatTurn } from '../chat-turn.ts'
import { AgentSDKError, unsupported } from '../errors.ts'
import { ChatProjection } from './chat-projection.ts'
import { checkContext, checkTurn } from './check-turn.ts'
import {
  inProgress,
  isOpenCall,
  limitOf,
  notPending,
  requestOf,
  submissionOf,
  turnsOver,
  waitOf,
} from './chat-request.ts'
import { submittedValue } from './consumer-tools.ts'
import type { EngineAgent } from './engine-agent.ts'
import { Operations } from './operations.ts'
import { passOnNote, type NotePorts } from './thread-notes.ts'

export interface EngineThreadPorts extends NotePorts {
  readonly harnessId: string
  readonly threadId: string
  readonly agentId: string
  readonly store: Store
  readonly registry: ThreadRegistry
  readonly agent: () => EngineAgent
  readonly rules: PermissionRules | undefined
  /** The name of the door, what submissions call it, and settings of the engine. */
  readonly door: Pick<Door, 'door' | 'doorKey' | 'now' | 'newId' | 'priceOf' | 'approvalTimeout' | 'windowOf'>
}

/** A summary, and which messages it replaces. */
type Summary = Parameters<MemoryThread['compact']> extends [...infer Given, unknown] ? Given : never

interface OpenChatTurn {
  readonly turn: ChatTurn
  readonly projection: ChatProjection
}

/** One chat thread: a runtime that is opened when it is needed, and the turn that goes on in it. */
export class EngineThread {
  readonly #ports: EngineThreadPorts
  readonly #turns = new Map<string, OpenChatTurn>()
  /** Turns whose message is queued, by the id of the message. */
  readonly #queued = new Map<string, ChatTurn>()
  /** The turn that somebody was given in this process. Nobody can answer for one that nobody has. */
  #handedOut: ChatTurn | undefined
  #nextApproval: ToolApprovalMode | undefined
  readonly #door: Door
  /** Stops listening to the thread. */
  #stop: () => void = () => undefined
  #opening: Promise<ThreadRuntime> | undefined
  #runtime: ThreadRuntime | undefined
  #operations: Operations | undefined
  #lastStream: Promise<void> = Promise.resolve()

  constructor(ports: EngineThreadPorts) {
    this.#ports = ports
    this.#door = this.#makeDoor()
  }

  runtime(): Promise<ThreadRuntime> {
    this.#opening ??= this.#open()
    return this.#opening
  }

  get operations(): Operations {
    const { store, threadId } = this.#ports
    this.#operations ??= new Operations({
      store,
      runtime: () => this.runtime(),
      state: () => this.state(),
      threadId,
      usageOf: (runId) => this.#turns.get(runId)?.projection.usage,
    })
    return this.#operations
  }

  /** The state without taking the thread: reading resumes nothing. */
  async state(): Promise<ThreadState> {
    const { registry, threadId } = this.#ports
    await this.#runtime?.stateInTurn()
    return registry.read(threadId)
  }

  /** One after the other, so that of two calls with one operation id the second finds the first. */
  stream(parts: readonly Part[], options: StreamOptions): Promise<ChatTurn> {
    const begun = this.#lastStream.then(() => this.#stream(parts, options))
    this.#lastStream = begun.then(
      () => undefined,
      () => undefined,
    )
    return begun
  }

  async #stream(parts: readonly Part[], options: StreamOptions): Promise<ChatTurn> {
    const { agentId, door, harnessId } = this.#ports
    const { doorKey } = door
    const { operationId, whenBusy = 'reject' } = options
    const agent = this.#ports.agent()
    const approval = resolveToolApprovalMode(options.requireToolApproval)
    checkTurn(harnessId, agent.capabilities, { ...options, approval, parts })
    const runtime = await this.runtime()
    const again = operationId === undefined ? undefined : await this.#known(operationId)
    if (again !== undefined) return again
    const { run } = runtime.state.head
    if (run !== null && whenBusy === 'reject') {
      const isTakenUp = this.#handedOut?.isOver === false || this.#turns.get(run.runId)?.turn.isRead === true
      // What waits for the end of a limit continues by itself.
      if (isTakenUp || run.status !== 'parked' || limitOf(runtime.state) !== undefined) throw inProgress()
      // It has waited since before a restart, and nobody has taken it up.
      await runtime.cancel()
      // What was queued behind it comes first.
      if (runtime.state.head.run !== null) throw inProgress()
    }
    const submission = {
      ...submissionOf(agentId, parts, options, approval, agent.isForeign),
      ...(doorKey === undefined ? {} : { door: doorKey }),
    }
    if (run !== null && whenBusy === 'steer') return this.#steer(runtime, submission, run.runId, agent)
    if (run !== null && whenBusy === 'queue') return this.#queue(runtime, submission, operationId)
    this.#nextApproval = approval
    const { runId } = await runtime.submit(submission)
    const { turn } = this.#turnOf(runId)
    this.#handedOut = turn
    return turn
  }

  /** The turn that waits or works, if there is one. The thread has to be open. */
  resumeTurn(): ChatTurn | undefined {
    const run = this.#runtime?.state.head.run
    return run === null || run === undefined ? undefined : this.#turnOf(run.runId).turn
  }

  /** Ends the open turn. A turn that is still queued is taken out of the queue instead. */
  async cancel(turn?: ChatTurn): Promise<void> {
    const runtime = await this.runtime()
    for (const [messageId, queued] of this.#queued) {
      if (queued !== turn) continue
      await this.operations.abort(messageId)
      this.#queued.delete(messageId)
      turn.finish('other')
      return
    }
    if (runtime.state.head.run !== null) await runtime.cancel()
  }

  /** Ends the open turn and drops what is queued. */
  async discard(): Promise<void> {
    const runtime = await this.runtime()
    const dropped = [...runtime.state.head.queue].map(({ id }) => {
      return { type: 'queue.removed', itemId: id, reason: 'dropped' } as const
    })
    if (dropped.length > 0) await runtime.record(dropped)
    await this.cancel()
  }

  async settle(toolCallId: string, isApproved: boolean, remember = false): Promise<void> {
    const { runtime, wait } = await this.#pending(toolCallId)
    if (isApproved && wait.kind !== 'approval') {
      throw notPending(toolCallId, 'It waits for a result, not for an approval.', 'Use submitToolResult().')
    }
    if (!isApproved) return runtime.answer(wait.id, { decision: 'decline' })
    await runtime.answer(wait.id, { decision: 'approve', ...(remember ? { remember: 'tool' as const } : {}) })
  }

  async submitResult(result: ChatToolResultInfo): Promise<void> {
    const { runtime, wait } = await this.#pending(result.toolCallId)
    if (wait.kind === 'approval') {
      throw notPending(result.toolCallId, 'It waits for an approval.', 'Use approveToolCall() or declineToolCall().')
    }
    if (wait.subject.toolName !== undefined && wait.subject.toolName !== result.toolName) {
      throw notPending(
        result.toolCallId,
        `It is a call of "${wait.subject.toolName}".`,
        'Submit the result under that.',
      )
    }
    const isOurs = this.#ports.agent().consumerTools.has(result.toolName)
    const submitted = submittedValue(result)
    await runtime.answer(wait.id, { decision: 'answer', value: isOurs ? submitted : (submitted['result'] ?? null) })
  }

  async addMessages(messages: readonly ChatMessage[]): Promise<void> {
    const facts = messages.map((message) => fromChatMessage(message))
    const { agent, harnessId } = this.#ports
    checkContext(
      harnessId,
      agent().capabilities,
      facts.flatMap(({ parts }) => parts),
    )
    const runtime = await this.runtime()
    await turnsOver(runtime)
    await runtime.record(facts)
  }

  async clear(): Promise<void> {
    const { registry, store, threadId } = this.#ports
    const runtime = await this.runtime()
    if (runtime.state.head.run !== null) throw inProgress()
    const owner = await registry.owner(this.#door)
    await runtime.change(async (log) => {
      const forks = await store.listForks({ stream: threadId, from: 1, to: log.state.head.seq, limit: 1 })
      // A clone shares these messages and keeps them, so they are only left behind here.
      if (forks.items.length > 0) await rewindThread(store, log, 0)
      else await clearHistory(store, log, { owner })
    })
  }

  /** Returns a summary of the whole conversation, which does not change. */
  async summarise(ask: MemoryServices['ask']): Promise<Summary> {
    const runtime = await this.runtime()
    if (runtime.state.head.run !== null) throw inProgress()
    return runtime.changeContext(async (thread) => {
      let made: Summary | undefined
      const compact: MemoryThread['compact'] = async (summary, place, tokens) => {
        made = [summary, place, tokens]
        return true
      }
      const { error, reason } = await compactThread({ ...thread, compact }, { ask }, {}, NEVER, 'whole')
      if (made !== undefined) return made
      throw error ?? new Error(reason)
    })
  }

  /** Replaces messages by their summary. */
  async begin(...summary: Summary): Promise<void> {
    const runtime = await this.runtime()
    const isDone = await runtime.changeContext((thread) => thread.compact(...summary, thread.basis()))
    if (!isDone) throw new Error('The conversation was changed meanwhile.')
  }

  /** Releases the thread. What waits goes on waiting; what works ends as interrupted. */
  async close(): Promise<void> {
    const opening = this.#opening
    await opening?.catch(() => undefined)
    if (opening !== undefined) await this.#ports.registry.leave(this.#ports.threadId, this.#door)
    this.#stop()
    for (const { turn } of this.#turns.values()) if (turn.isOver || turn === this.#handedOut) this.#detach(turn)
    for (const turn of this.#queued.values()) this.#detach(turn)
    this.#turns.clear()
    this.#opening = undefined
    this.#runtime = undefined
  }

  #makeDoor(): Door {
    const { agentId, door, rules } = this.#ports
    return {
      ...door,
      agents: (id) => (id === agentId ? this.#ports.agent().runtimeAgent : undefined),
      agentOfQueued: () => agentId,
      // Every queued message has a caller of its own, who waits for it.
      sendsAfterCancel: true,
      policy: createPolicy(rules === undefined ? {} : { rules }),
      sessionRules: () => this.#sessionRules(),
      beforeRun: (state) => this.#beforeRun(state),
      withChoice: (change) => assertAgent(change, agentId),
      evict: () => this.close(),
    }
  }

  async #open(): Promise<ThreadRuntime> {
    const { registry, threadId } = this.#ports
    try {
      return await registry.enter(threadId, this.#door, (runtime) => {
        this.#runtime = runtime
        this.#stop = runtime.onEntry((entry) => this.#hear(entry))
      })
    } catch (error) {
      this.#stop()
      this.#opening = undefined
      this.#runtime = undefined
      throw error
    }
  }

  /** Tools that the caller runs need no approval: the caller decides when it gets the call. */
  #sessionRules(): PermissionRules {
    const { consumerTools } = this.#ports.agent()
    if (consumerTools.size === 0) return NO_RULES
    return { ...NO_RULES, tools: Object.fromEntries([...consumerTools].map((name) => [name, 'allow'])) }
  }

  /** Without `requireToolApproval` everything runs that no rule denies. */
  #beforeRun({ head }: ThreadState): { readonly type: 'config.changed'; readonly yolo: boolean }[] {
    const [queued] = head.queue
    const approval = queued === undefined ? this.#nextApproval : requestOf(queued.requestContext).approval
    // A client of a server may have chosen how much is asked; the SDK's default is not a choice.
    if (approval === undefined && head.settings.get('permissionMode') !== undefined) return []
    const yolo = approval === undefined
    return head.yolo === yolo ? [] : [{ type: 'config.changed', yolo }]
  }

  #hear(entry: LogEntry): void {
    if (entry.kind === 'delta') {
      const run = entry.state.head.run
      if (run !== null) this.#turnOf(run.runId).projection.delta(entry.event)
      return
    }
    const { body } = entry.record
    if (body.type === 'note') passOnNote(body, this.#ports)
    const runId = entry.record.run ?? entry.state.head.run?.runId ?? entry.state.head.lastRun?.runId
    if (runId === undefined || UNSHOWN.has(body.type)) return
    if (body.type === 'message.added') this.#bind(body.messageId, runId)
    const open = body.type === 'run.started' ? this.#begin(runId, entry.state) : this.#turns.get(runId)
    open?.projection.record(entry.record)
    if (body.type === 'run.ended') this.#forget(runId)
  }

  /** Returns the turn of a run. One that began in an earlier process starts with what is open. */
  #turnOf(runId: string): OpenChatTurn {
    const known = this.#turns.get(runId)
    if (known !== undefined) return known
    const { run } = this.#state.head
    const begun = this.#begin(runId, this.#state)
    if (run?.runId === runId) begun.projection.resume(this.#state)
    return begun
  }

  #begin(runId: string, state: ThreadState): OpenChatTurn {
    const agent = this.#ports.agent()
    const turn = new ChatTurn()
    const projection = new ChatProjection({
      turn,
      approval: requestOf(state.head.run?.requestContext).approval,
      holdsErrors: state.head.run?.turn?.onLimit === 'park',
      isForeign: agent.isForeign,
      isConsumerTool: (name) => agent.consumerTools.has(name),
      originOf: agent.originOf,
      isWanted: (wait) => this.#isWanted(wait),
    })
    const open = { turn, projection }
    this.#turns.set(runId, open)
    return open
  }

  get #state(): ThreadState {
    if (this.#runtime === undefined) throw new AgentSDKError('DISPOSED', 'The thread is not open.')
    return this.#runtime.state
  }

  /** A tool that was always approved is approved without asking again, also if the question was put before. */
  #isWanted(wait: Wait): boolean {
    const { toolName } = wait.subject
    const isGranted = toolName !== undefined && this.#state.head.grants.tools.includes(toolName)
    // Somebody else may answer it meanwhile, or the run may end.
    if (isGranted) this.#runtime?.answer(wait.id, { decision: 'approve' }).catch(() => undefined)
    return !isGranted
  }

  /** Passes the events of a run on to the turn that was returned when its message was queued. */
  #bind(messageId: string, runId: string): void {
    const queued = this.#queued.get(messageId)
    const open = this.#turns.get(runId)
    if (queued === undefined || open === undefined) return
    this.#queued.delete(messageId)
    queued.push({ type: 'start' })
    open.turn.onEvent((event) => queued.push(event))
    this.#handedOut = queued
  }

  #forget(runId: string): void {
    const open = this.#turns.get(runId)
    this.#turns.delete(runId)
    if (open?.turn === this.#handedOut) this.#handedOut = undefined
  }

  #detach(turn: ChatTurn): void {
    turn.fail(new Error('The session was closed before the turn was over.'), 'closed')
  }

  async #steer(runtime: ThreadRuntime, submission: Submission, runId: string, agent: EngineAgent): Promise<ChatTurn> {
    const { harnessId } = this.#ports
    if (!agent.capabilities.steer) throw unsupported(harnessId, "messages to a working agent (`whenBusy: 'steer'`)")
    const { runId: _runId, ...message } = submission
    await runtime.steer(message)
    const { turn } = this.#turnOf(runId)
    this.#handedOut = turn
    return turn
  }

  async #queue(runtime: ThreadRuntime, submission: Submission, operationId: string | undefined): Promise<ChatTurn> {
    const { runId: _runId, messageId = operationId ?? crypto.randomUUID(), ...message } = submission
    const turn = new ChatTurn()
    this.#queued.set(messageId, turn)
    try {
      await runtime.followUp({ ...message, messageId })
    } catch (error) {
      this.#queued.delete(messageId)
      throw error
    }
    return turn
  }

  /** Returns the turn of an operation that was started before, so that it is not started again. */
  async #known(operationId: string): Promise<ChatTurn | undefined> {
    const found = await this.operations.find(operationId)
    if (found === undefined) return undefined
    if (found.runId === undefined) {
      const queued = this.#queued.get(operationId) ?? new ChatTurn()
      this.#queued.set(operationId, queued)
      return queued
    }
    const { runId } = found
    if (this.#state.head.run?.runId === runId) {
      const { turn } = this.#turnOf(runId)
      this.#handedOut = turn
      return turn
    }
    return this.#replayed(runId, found.from)
  }

  /** Returns a turn that is over, from the log. */
  async #replayed(runId: string, from: number): Promise<ChatTurn> {
    const agent = this.#ports.agent()
    const turn = new ChatTurn()
    const { isForeign, originOf } = agent
    const projection = new ChatProjection({
      turn,
      approval: 'batch',
      holdsErrors: true,
      isForeign,
      isConsumerTool: () => false,
      originOf,
      isWanted: () => true,
    })
    for await (const record of this.operations.recordsOf(runId, from)) projection.record(record)
    return turn
  }

  /** A caller may have the result of its tool before the call has begun to wait for it. */
  async #coming(runtime: ThreadRuntime, toolCallId: string): Promise<Wait | undefined> {
    const { consumerTools } = this.#ports.agent()
    if (!isOpenCall(runtime.state, toolCallId, consumerTools)) return undefined
    const { promise, resolve } = Promise.withResolvers<void>()
    const stop = runtime.onEntry(({ state }) => {
      const isSettled = waitOf(state, toolCallId) !== undefined || !isOpenCall(state, toolCallId, consumerTools)
      if (isSettled) resolve()
    })
    await promise
    stop()
    return waitOf(runtime.state, toolCallId)
  }

  async #pending(toolCallId: string): Promise<{ readonly runtime: ThreadRuntime; readonly wait: Wait }> {
    const runtime = await this.runtime()
    const { run } = runtime.state.head
    const wait = waitOf(runtime.state, toolCallId) ?? (await this.#coming(runtime, toolCallId))
    if (run === null || wait === undefined) {
      throw notPending(toolCallId, 'Nothing waits for it.', 'It may have been answered, or its turn is over.')
    }
    if (!this.#turnOf(run.runId).projection.isShown(wait)) {
      throw notPending(toolCallId, 'Its request has not been shown yet.', 'Answer the request before it first.')
    }
    return { runtime, wait }
  }
}

/** Records that say nothing about a turn. */
const UNSHOWN: ReadonlySet<string> = new Set(['batch', 'config.changed', 'queue.added', 'queue.removed', 'note'])

/** A summary that takes too long is given up by its own time limit. */
const NEVER = new AbortController().signal

/** A session belongs to its agent. */
function assertAgent(change: ConfigChange, agentId: string): ConfigChange {
  if (typeof change.agentId !== 'string' || change.agentId === agentId) return change
  throw new InspanError('unsupported', `The session belongs to the agent "${agentId}".`, {
    hint: 'Create a session of the other agent.',
  })
}
