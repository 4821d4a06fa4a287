import {
  addUsage,
  contextUsage,
  InspanError,
  type ContextUsage,
  type Grants,
  type ToolCategory,
} from '@inspan/protocol'
import {
  toTokenUsage,
  type HarnessDisplayState,
  type HarnessEvent,
  type HarnessEventListener,
  type TokenUsage,
  NO_TOKENS,
} from '@inspan/protocol/harness'
import { aFunction } from '@inspan/protocol/internal'
import { checkGiven } from './checks/check-given.ts'
import type { MessageInput } from './runs/conversation.ts'
import { FollowUps } from './runs/follow-ups.ts'
import { objectivesOf, type Objectives } from './goals/current-agent.ts'
import type { StateShape } from './harness-config.ts'
import type { HarnessCore } from './harness-core.ts'
import { outsideEvent } from './events/outside-event.ts'
import { reportErrors, reportFailure } from './events/report-errors.ts'
import { SessionApproval } from './sessions/session-approval.ts'
import { SessionContext, type SessionOptions } from './sessions/session-context.ts'
import type { SessionIdentity } from './sessions/session-identity.ts'
import type { SessionLog } from './sessions/session-log.ts'
import type { SessionMode } from './sessions/session-mode.ts'
import type { SessionModel } from './sessions/session-model.ts'
import type { SessionPermissions } from './sessions/session-permissions.ts'
import type { SessionMemory, SubagentModel } from './sessions/session-preferences.ts'
import { SessionRun, SessionStream } from './sessions/session-run.ts'
import type { SessionState } from './sessions/session-state.ts'
import { SessionThread } from './sessions/session-thread.ts'
import { SessionSignals } from './signals/session-signals.ts'
import {
  answerApproval,
  answerSuspension,
  Suspensions,
  type ToolApprovalResponse,
  type ToolSuspensionResponse,
} from './sessions/suspensions.ts'
import type { ThreadLifecycle } from './threads/thread-lifecycle.ts'

/** How full the model's window was in the last step. */
export interface SessionContextUsage extends Omit<ContextUsage, 'contextWindow'> {
  readonly contextWindow: number | undefined
}

/** What a UI draws. */
export interface SessionDisplay {
  /** Returns a snapshot that never changes; the same object until something does. */
  get(): HarnessDisplayState
  clearModifiedFiles(): void
}

const contexts = new WeakMap<object, SessionContext>()

/** Returns what is inside a session, for its harness: how it begins and ends, and what its parts share. */
export function insideOf(session: object): SessionContext {
  const context = contexts.get(session)
  if (context === undefined) throw new InspanError('misuse', 'This is not a session of a harness.')
  return context
}

/** Refuses `new Session()` by programs, which other harnesses allow. */
function assertOfHarness(core: Partial<HarnessCore> | undefined): void {
  if (core?.threads !== undefined) return
  throw new InspanError('misuse', 'A session cannot be made without its harness.', {
    hint: 'Use `harness.session` or `await harness.createSession({ resourceId })`.',
  })
}

/** One conversation: its resource, the thread it is bound to, and what was chosen in it. */
export class Session<State extends StateShape = StateShape> {
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
  readonly #context: SessionContext<State>
  readonly #end: (() => Promise<void>) | undefined
  #closed: Promise<void> | undefined

  /** Only for the harness. Programs use `harness.session` or `harness.createSession()`. */
  constructor(core: HarnessCore, options: SessionOptions, log?: SessionLog) {
    assertOfHarness(core)
    const context = new SessionContext<State>(core, options, log)
    this.#context = context
    this.#end = options.end
    const { binding, identity, mode, model, om, permissions, state, subagents } = context
    const parts = reportErrors(
      {
        identity,
        mode,
        model,
        om,
        permissions,
        state,
        subagents,
        thread: new SessionThread(context),
        signals: new SessionSignals(context),
        objectives: objectivesOf(context),
        approval: new SessionApproval(context),
        followUps: new FollowUps(context),
        run: new SessionRun(context),
        stream: new SessionStream(context),
      },
      (event) => binding.emit(event),
    )
    this.identity = parts.identity
    this.thread = parts.thread
    this.mode = parts.mode
    this.model = parts.model
    this.state = parts.state
    this.permissions = parts.permissions
    this.suspensions = new Suspensions(context)
    this.approval = parts.approval
    this.followUps = parts.followUps
    this.run = parts.run
    this.stream = parts.stream
    this.om = parts.om
    this.subagents = parts.subagents
    this.signals = parts.signals
    this.objectives = parts.objectives
    this.displayState = {
      get: () => binding.display.get(),
      clearModifiedFiles: () => binding.display.clearModifiedFiles(),
    }
    contexts.set(this, context)
  }

  /** Calls `listener` with every event of this session. Returns a function that unsubscribes it. */
  subscribe(listener: HarnessEventListener): () => void {
    checkGiven(listener, 'listener', aFunction)
    return this.#context.binding.bus.subscribe(listener)
  }

  /** Emits an event to the listeners of this session. It is not recorded. */
  emit(event: HarnessEvent): void {
    this.#context.binding.emit(outsideEvent(event))
  }

  /** Binds the session to the newest thread of its resource, or to a new one. */
  selectOrCreateThread(): ReturnType<ThreadLifecycle['selectOrCreate']> {
    return this.#report(this.#context.lifecycle.selectOrCreate())
  }

  /**
   * Starts a run. During a run, the agent hears the message before its next step. Resolves when the run has ended or
   * waits for an answer to a tool's question.
   */
  sendMessage(input: MessageInput): Promise<void> {
    return this.#report(this.#context.conversation.send(input))
  }

  /** Like `sendMessage`. An agent that cannot listen while it works is cancelled and asked anew. */
  steer(input: MessageInput): Promise<void> {
    return this.#report(this.#context.conversation.send(input))
  }

  /** Starts a run. During a run, the message is queued until the run has ended. */
  followUp(input: MessageInput): Promise<void> {
    return this.#report(this.#context.conversation.followUp(input))
  }

  /** Cancels the run with its calls and waits, and stops what would follow from it. Queued messages are held. */
  abort(): Promise<void> {
    return this.#report(this.#context.conversation.abort())
  }

  /** Answers an approval. Resolves when the answer is on record; the call continues by itself. */
  respondToToolApproval(response: ToolApprovalResponse): Promise<void> {
    return this.#report(answerApproval(this.#context, response))
  }

  /** Answers a tool's question. Resolves when the run, which continues with the answer, is over or waits again. */
  respondToToolSuspension(response: ToolSuspensionResponse): Promise<void> {
    return this.#report(answerSuspension(this.#context, response))
  }

  /** Allows calls of this category in this session where no rule says otherwise. */
  grantCategory(category: ToolCategory): Promise<void> {
    return this.#report(this.#context.grants.grantCategory(category))
  }

  grantTool(toolName: string): Promise<void> {
    return this.#report(this.#context.grants.grantTool(toolName))
  }

  hasCategoryGrant(category: ToolCategory): boolean {
    return this.#context.grants.hasCategory(category)
  }

  hasToolGrant(toolName: string): boolean {
    return this.#context.grants.hasTool(toolName)
  }

  getGrants(): Grants {
    return this.#context.grants.get()
  }

  getCurrentRunId(): string | null {
    return this.run.getRunId()
  }

  abortRun(): Promise<void> {
    return this.abort()
  }

  /** Returns the tokens that the thread has used, on request with those of its subagents. */
  getTokenUsage({ includeSubagents = false }: { readonly includeSubagents?: boolean } = {}): TokenUsage {
    const { head } = this.#context.binding
    if (head === undefined) return NO_TOKENS
    const { own, subagents } = head.usage
    return toTokenUsage(includeSubagents ? addUsage(own, subagents) : own)
  }

  /**
   * Returns what the last step of the thread sent and got, and how much of the model's window that filled. The window is
   * `undefined` if the catalogue does not know it.
   */
  async getContextUsage(): Promise<SessionContextUsage> {
    const { binding, core } = this.#context
    const { head } = binding
    const usage = head?.usage.lastStep ?? {}
    // An agent may have a model that nobody chose by its name.
    const step = head === undefined ? null : await core.store.latestRecord(head.lineage, 'step.started', head.seq)
    const asked = step?.body.type === 'step.started' ? step.body.request?.model : undefined
    const contextWindow = await core.models.contextWindowOf(asked ?? this.model.get())
    return contextWindow === undefined
      ? { usage, contextWindow, usedFraction: undefined }
      : contextUsage(usage, contextWindow)
  }

  /**
   * Ends this session alone: it leaves its thread as `destroy` does and cannot be used afterwards. A session with an id
   * can be created again.
   */
  close(): Promise<void> {
    const close = async (): Promise<void> => {
      if (this.#end === undefined) {
        throw new InspanError('misuse', 'The first session of a harness ends with it.', { hint: 'Call `destroy`.' })
      }
      this.#closed ??= this.#end()
      await this.#closed
    }
    return this.#report(close())
  }

  #report<Result>(done: Promise<Result>): Promise<Result> {
    return reportFailure(done, (event) => this.#context.binding.emit(event))
  }
}
