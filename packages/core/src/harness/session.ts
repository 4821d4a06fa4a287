import { InspanError, type Grants, type ToolCategory } from '@inspan/protocol'
import {
  toTokenUsage,
  type HarnessDisplayState,
  type HarnessEvent,
  type HarnessEventListener,
  type TokenUsage,
  NO_TOKENS,
} from '@inspan/protocol/harness'
import type { RequestContext } from '@inspan/agent'
import { Mailbox } from '../common/mailbox.ts'
import { givenFields, givenFunction, givenJson } from './checks/check-given.ts'
import { applyControl, splitState } from './sessions/control-keys.ts'
import { Conversation, type MessageInput } from './runs/conversation.ts'
import { FollowUps } from './runs/follow-ups.ts'
import { objectivesOf, type Objectives } from './goals/current-agent.ts'
import type { HarnessState } from './harness-config.ts'
import { addHarness } from './harness-context.ts'
import type { HarnessCore, ThreadViewer } from './harness-core.ts'
import { outsideEvent } from './events/outside-event.ts'
import { requestContextOf, type RequestContextInput } from './agents/request-context.ts'
import { SessionApproval } from './sessions/session-approval.ts'
import { SessionBinding } from './sessions/session-binding.ts'
import { SessionDefaults, ThreadSettings } from './sessions/session-defaults.ts'
import { SessionIdentity } from './sessions/session-identity.ts'
import type { KeepWithSession, SessionLog } from './sessions/session-log.ts'
import { SessionMode } from './sessions/session-mode.ts'
import { SessionModel } from './sessions/session-model.ts'
import { SessionGrants, SessionPermissions } from './sessions/session-permissions.ts'
import { sessionMemory, SubagentModel, type SessionMemory } from './sessions/session-preferences.ts'
import { SessionRules } from './sessions/session-rules.ts'
import { SessionRun, SessionStream } from './sessions/session-run.ts'
import { SessionState } from './sessions/session-state.ts'
import { SessionThread } from './sessions/session-thread.ts'
import { SessionSignals, type CurrentThread } from './signals/session-signals.ts'
import {
  approvalAnswer,
  declineReason,
  findApproval,
  findSuspension,
  Suspensions,
  type ApprovalDecision,
} from './sessions/suspensions.ts'
import { ThreadLifecycle } from './threads/thread-lifecycle.ts'
import { told, toldCalls } from './events/told.ts'
import { assertAnswers } from './tools/builtin-tools.ts'

export interface SessionOptions {
  readonly resourceId: string
  readonly id?: string
  /** Ends this session alone. Absent for the first session of a harness, which ends with the harness. */
  readonly end?: () => Promise<void>
}

export interface ToolApprovalResponse {
  readonly decision: ApprovalDecision
  /** Default: the oldest call that waits for approval. */
  readonly toolCallId?: string
  readonly requestContext?: RequestContextInput
  /** Passed on to the agent when the decision is to decline. */
  readonly declineContext?: { readonly reason?: string; readonly message?: string }
}

export interface ToolSuspensionResponse {
  readonly resumeData: unknown
  /** Needed only when more than one tool waits. */
  readonly toolCallId?: string
  readonly requestContext?: RequestContextInput
}

/** What a UI draws. */
export interface SessionDisplay {
  /** Returns a snapshot that never changes; the same object until something does. */
  get(): HarnessDisplayState
  clearModifiedFiles(): void
}

interface SessionLife {
  /** Leaves the thread. Waits stay open; a run at work ends as interrupted. */
  close(): Promise<void>
  /** Like `close`, but the session cannot be used afterwards. */
  end(): Promise<void>
  /** Binds the session to the thread it had in an earlier process. */
  reopen(): Promise<void>
  /** Emits an event that the first session emits as well. */
  emitEcho(event: HarnessEvent): void
  /** Returns a request context for what is made for the session itself and not for a run. */
  requestContext(input: RequestContextInput | undefined): RequestContext
}

const lives = new WeakMap<object, SessionLife>()

/** Returns the lifecycle calls of a session, which only its harness may make. */
export function lifeOf(session: object): SessionLife {
  const life = lives.get(session)
  if (life === undefined) throw new InspanError('misuse', 'This is not a session of a harness.')
  return life
}

/** Refuses `new Session()` by programs, which other harnesses allow. */
function assertOfHarness(core: Partial<HarnessCore> | undefined): void {
  if (core?.threads !== undefined) return
  throw new InspanError('misuse', 'A session cannot be made without its harness.', {
    hint: 'Use `harness.session` or `await harness.createSession({ resourceId })`.',
  })
}

/** Methods that only read: their failures are not reported as events. */
const THREAD_READS = [
  'list',
  'getById',
  'listMessages',
  'listActiveMessages',
  'firstUserMessage',
  'firstUserMessages',
] as const
const OBJECTIVE_READS = ['getObjective'] as const
const RUN_READS = ['opinions'] as const
const MEMORY_READS = ['resolvedModel'] as const

/** One conversation: its resource, the thread it is bound to, and what was chosen in it. */
export class Session<State extends HarnessState = HarnessState> {
  /** The id of the session and the resource it belongs to. */
  readonly identity: SessionIdentity
  /** The bound thread and the others of the resource: lists, messages, settings. */
  readonly thread: SessionThread
  readonly mode: SessionMode
  readonly model: SessionModel
  /** The user's own state, which the schema of the harness validates. */
  readonly state: SessionState<State>
  /** Rules of the session, and yolo. */
  readonly permissions: SessionPermissions
  /** Tools that asked a question and wait for the answer. */
  readonly suspensions: Suspensions
  /** The oldest call that waits for approval. */
  readonly approval: SessionApproval
  /** Messages queued until the run is over. */
  readonly followUps: FollowUps
  /** The run of the bound thread: its id, whether it is at work, scores and feedback. */
  readonly run: SessionRun
  readonly stream: SessionStream
  /** Models and thresholds of observational memory. */
  readonly om: SessionMemory
  readonly subagents: { readonly model: SubagentModel }
  /** What a UI draws. */
  readonly displayState: SessionDisplay
  /** Signals, notifications and reminders that the application sends to the thread. */
  readonly signals: SessionSignals
  /** The goal of the thread. */
  readonly objectives: Objectives
  readonly #core: HarnessCore
  readonly #options: SessionOptions
  readonly #log: SessionLog | undefined
  readonly #binding: SessionBinding
  readonly #rules: SessionRules
  readonly #state: SessionState<State>
  readonly #grants: SessionGrants
  readonly #conversation: Conversation
  readonly #lifecycle: ThreadLifecycle
  #closed: Promise<void> | undefined

  /** Only for the harness. Programs use `harness.session` or `harness.createSession()`. */
  constructor(core: HarnessCore, options: SessionOptions, log?: SessionLog) {
    assertOfHarness(core)
    this.#core = core
    this.#options = options
    this.#log = log
    const keep: KeepWithSession = async (change) => log?.keep(change)
    const { config, defaultMode } = core
    const initial = config.initialState as (Partial<State> & HarnessState) | undefined
    const binding = new SessionBinding(core, this.#viewer(), {
      sessionId: () => this.identity.getId(),
      onBound: async (threadId) => log?.keepThread(threadId),
    })
    this.#binding = binding
    const chosen = initial?.['currentModelId']
    const { settings: given, yolo = false } = splitState(initial ?? {}).control
    const modelId = typeof chosen === 'string' ? chosen : (defaultMode.defaultModelId ?? '')
    const defaults = new SessionDefaults({ modeId: defaultMode.id, modelId, yolo, settings: given }, keep)
    if (log !== undefined) defaults.restore(log.head, core.config.modes)
    const turns = new Mailbox()
    const settings = new ThreadSettings(binding, defaults)
    const emit = (event: HarnessEvent): void => binding.emit(event)
    const identity = new SessionIdentity(options.resourceId, options.id, () => this.#lifecycle.clear())
    const abort = (): Promise<void> => this.#conversation.abort()
    const mode = new SessionMode({ core, binding, defaults, turns, abort })
    const model = new SessionModel(core, binding, defaults, settings, mode)
    const rules = new SessionRules({ core, binding, keep, turns, kept: log?.head.rules })
    this.#rules = rules
    const permissions = new SessionPermissions(core, binding, defaults, rules)
    this.#grants = new SessionGrants(binding, keep, log?.head.grants)
    const om = sessionMemory(core, binding, settings)
    const subagents = { model: new SubagentModel(binding, settings) }
    const state = new SessionState<State>({
      schema: config.stateSchema as never,
      initial,
      kept: log?.head.state.toJSON(),
      emit,
      persist: async (changes) => log?.keepState(changes),
      control: (updates) => applyControl(updates, { om, permissions, subagents }, settings),
    })
    this.#state = state
    this.#lifecycle = new ThreadLifecycle({
      core,
      binding,
      defaults,
      identity,
      rules,
      turns,
      onCleared: async () => log?.keepThread(null),
      selection: () => ({ modeId: mode.get(), modelId: model.get() }),
    })
    this.#conversation = new Conversation({
      core,
      binding,
      mode,
      ensureThread: () => this.#lifecycle.ensure(),
    })
    const currentThread: CurrentThread = {
      newId: core.newId,
      keepContext: (messageId, context) => this.#conversation.keepContext(messageId, context),
      dropContext: (messageId) => core.contexts.drop(messageId),
      emit,
      ensure: async () => (await this.#lifecycle.ensure()).control,
      get: () => binding.thread?.control,
    }
    const thread = new SessionThread(core, binding, settings, identity, this.#lifecycle)
    this.identity = toldCalls(identity, emit)
    this.mode = toldCalls(mode, emit)
    this.model = toldCalls(model, emit)
    this.permissions = toldCalls(permissions, emit)
    this.state = toldCalls(state, emit)
    this.thread = toldCalls(thread, emit, THREAD_READS)
    this.signals = toldCalls(new SessionSignals(currentThread), emit)
    this.objectives = toldCalls(objectivesOf(currentThread), emit, OBJECTIVE_READS)
    this.suspensions = new Suspensions(binding)
    this.approval = toldCalls(new SessionApproval(binding, (response) => this.#decide(response)), emit)
    this.followUps = toldCalls(new FollowUps(binding, this.#conversation), emit)
    this.run = toldCalls(new SessionRun(binding, this.#conversation, core.traces), emit, RUN_READS)
    this.stream = toldCalls(new SessionStream(binding, this.#conversation), emit)
    this.om = {
      observer: toldCalls(om.observer, emit, MEMORY_READS),
      reflector: toldCalls(om.reflector, emit, MEMORY_READS),
    }
    binding.display.measureMemoryBy(om)
    this.subagents = { model: toldCalls(subagents.model, emit) }
    this.displayState = {
      get: () => binding.display.get(),
      clearModifiedFiles: () => binding.display.clearModifiedFiles(),
    }
    lives.set(this, {
      close: () => this.#close(),
      end: () => this.#end(),
      reopen: () => this.#reopen(),
      emitEcho: (event) => binding.emitEcho(outsideEvent(event)),
      requestContext: (input) => {
        const context = requestContextOf(input)
        const place = { threadId: binding.threadId, modeId: mode.get(), modelId: model.get() }
        addHarness(context, core, binding.viewer, place)
        return context
      },
    })
  }

  /** Calls `listener` with every event of this session. Returns a function that unsubscribes it. */
  subscribe(listener: HarnessEventListener): () => void {
    givenFunction(listener, 'listener')
    return this.#binding.bus.subscribe(listener)
  }

  /** Emits an event to the listeners of this session. It is not recorded. */
  emit(event: HarnessEvent): void {
    this.#binding.emit(outsideEvent(event))
  }

  /** Binds the session to the newest thread of its resource, or to a new one. */
  selectOrCreateThread(): ReturnType<ThreadLifecycle['selectOrCreate']> {
    return this.#told(this.#lifecycle.selectOrCreate())
  }

  /**
   * Starts a run. During a run, the agent hears the message before its next step. Resolves when the run has ended or
   * waits for an answer to a tool's question.
   */
  sendMessage(input: MessageInput): Promise<void> {
    return this.#told(this.#conversation.send(input))
  }

  /** Like `sendMessage`. An agent that cannot listen while it works is cancelled and asked anew. */
  steer(input: MessageInput): Promise<void> {
    return this.#told(this.#conversation.steer(input))
  }

  /** Starts a run. During a run, the message is queued until the run has ended. */
  followUp(input: MessageInput): Promise<void> {
    return this.#told(this.#conversation.followUp(input))
  }

  /** Cancels the run with its calls and waits, and stops what would follow from it. Queued messages are held. */
  abort(): Promise<void> {
    return this.#told(this.#conversation.abort())
  }

  /** Answers an approval. Resolves when the answer is on record; the call goes on by itself. */
  respondToToolApproval(response: ToolApprovalResponse): Promise<void> {
    return this.#told(this.#decide(response))
  }

  async #decide(response: ToolApprovalResponse): Promise<void> {
    const given = givenFields(response, 'respondToToolApproval({ decision, toolCallId? })')
    const { decision, declineContext, requestContext, toolCallId } = given
    const context = requestContextOf(requestContext)
    const answer = approvalAnswer(decision, declineReason(declineContext))
    const wait = findApproval(this.#binding, toolCallId)
    this.#addContext(wait.run, context)
    await this.#binding.requireRuntime().answer(wait.id, answer)
  }

  /** Answers a tool's question. Resolves when the run, which goes on with the answer, is over or waits again. */
  respondToToolSuspension(response: ToolSuspensionResponse): Promise<void> {
    return this.#told(this.#answer(response))
  }

  async #answer(response: ToolSuspensionResponse): Promise<void> {
    const given = givenFields(response, 'respondToToolSuspension({ resumeData, toolCallId? })')
    const value = givenJson(given.resumeData, 'resumeData')
    const context = requestContextOf(given.requestContext)
    const wait = findSuspension(this.#binding, given.toolCallId)
    assertAnswers(wait, value)
    this.#addContext(wait.run, context)
    await this.#binding.requireRuntime().answer(wait.id, { decision: 'answer', value })
    if (wait.run !== undefined) await this.#binding.atRest(wait.run)
  }

  /** Allows calls of this category in this session where no rule says otherwise. */
  grantCategory(category: ToolCategory): Promise<void> {
    return this.#told(this.#grants.grantCategory(category))
  }

  grantTool(toolName: string): Promise<void> {
    return this.#told(this.#grants.grantTool(toolName))
  }

  hasCategoryGrant(category: ToolCategory): boolean {
    return this.#grants.hasCategory(category)
  }

  hasToolGrant(toolName: string): boolean {
    return this.#grants.hasTool(toolName)
  }

  getGrants(): Grants {
    return this.#grants.get()
  }

  getCurrentRunId(): string | null {
    return this.run.getRunId()
  }

  abortRun(): Promise<void> {
    return this.abort()
  }

  /** Returns the tokens used by the whole thread. */
  getTokenUsage(): TokenUsage {
    const { head } = this.#binding
    return head === undefined ? NO_TOKENS : toTokenUsage(head.usage.own)
  }

  /**
   * Ends this session alone: it leaves its thread as `destroy` does and cannot be used afterwards. A session with an id
   * can be created again.
   */
  close(): Promise<void> {
    return this.#told(this.#closeAlone())
  }

  async #closeAlone(): Promise<void> {
    const { end } = this.#options
    if (end === undefined) {
      throw new InspanError('misuse', 'The first session of a harness ends with it.', { hint: 'Call `destroy`.' })
    }
    this.#closed ??= end()
    await this.#closed
  }

  async #close(): Promise<void> {
    await this.#lifecycle.close()
    await this.#log?.close()
  }

  async #end(): Promise<void> {
    await this.#lifecycle.end()
    await this.#log?.close()
  }

  async #reopen(): Promise<void> {
    const threadId = this.#log?.threadId
    if (threadId === undefined || (await this.#core.store.getThread(threadId)) === null) return
    const tellNow = this.#binding.bus.hold()
    try {
      await this.#lifecycle.reopen(threadId)
    } finally {
      // Nobody can listen yet: hold the events, so that a caller who subscribes right away misses nothing.
      setImmediate(tellNow)
    }
  }

  #told<Result>(done: Promise<Result>): Promise<Result> {
    return told(done, (event) => this.#binding.emit(event))
  }

  #addContext(runId: string | undefined, context: RequestContext): void {
    if (runId !== undefined && context.size > 0) this.#core.contexts.add(runId, context)
  }

  #viewer(): ThreadViewer {
    return {
      resourceId: () => this.identity.getResourceId(),
      userState: {
        get: () => this.#state.get(),
        set: (changes) => this.#state.set(changes as Partial<State>),
        update: (change) => this.#state.update((state) => change(state) as never),
      },
      emit: (event) => this.#binding.emit(event),
      rules: () => this.#rules.own,
      grants: () => this.#grants.own,
      leave: () => this.#lifecycle.clear(),
      subagentModelId: (agentType) => this.subagents.model.get(agentType === undefined ? {} : { agentType }),
    }
  }
}
