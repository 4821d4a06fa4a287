import type { RequestContext } from '@inspan/agent'
import type { ConfigChange } from '../../engine/index.ts'
import { Mailbox } from '../../common/mailbox.ts'
import { Conversation } from '../runs/conversation.ts'
import type { StateShape, StateSchema } from '../harness-config.ts'
import { addHarness } from '../harness-context.ts'
import type { HarnessCore } from '../harness-core.ts'
import { requestContextOf, type RequestContextInput } from '../agents/request-context.ts'
import { ThreadLifecycle } from '../threads/thread-lifecycle.ts'
import { splitState } from './control-keys.ts'
import { SessionBinding } from './session-binding.ts'
import { SessionDefaults, ThreadSettings } from './session-defaults.ts'
import { SessionIdentity } from './session-identity.ts'
import type { SessionLog } from './session-log.ts'
import { SessionMode } from './session-mode.ts'
import { SessionModel } from './session-model.ts'
import { SessionGrants, SessionPermissions } from './session-permissions.ts'
import { sessionMemory, SubagentModel, type SessionMemory } from './session-preferences.ts'
import { SessionRules } from './session-rules.ts'
import { SessionState } from './session-state.ts'

export interface SessionOptions {
  readonly resourceId: string
  readonly id?: string
  /** Ends this session alone. Absent for the first session of a harness, which ends with the harness. */
  readonly end?: () => Promise<void>
}

/** Everything the parts of a session share. Each looks up the others here when it needs them. */
export class SessionContext<State extends StateShape = StateShape> {
  readonly core: HarnessCore
  /** The stream of a session with an id. */
  readonly log: SessionLog | undefined
  /** Serialises the commands that change the session's thread: each starts from what the last one left. */
  readonly turns: Mailbox = new Mailbox()
  readonly identity: SessionIdentity
  readonly binding: SessionBinding
  readonly defaults: SessionDefaults
  readonly settings: ThreadSettings
  readonly mode: SessionMode
  readonly model: SessionModel
  readonly rules: SessionRules
  readonly permissions: SessionPermissions
  readonly grants: SessionGrants
  readonly om: SessionMemory
  readonly subagents: { readonly model: SubagentModel }
  readonly state: SessionState<State>
  readonly lifecycle: ThreadLifecycle
  readonly conversation: Conversation

  constructor(core: HarnessCore, { id, resourceId }: SessionOptions, log: SessionLog | undefined) {
    this.core = core
    this.log = log
    const { config, defaultMode } = core
    const initial = config.initialState as (Partial<State> & StateShape) | undefined
    const chosen = initial?.['currentModelId']
    const { settings, yolo = false } = splitState(initial ?? {}).control
    const modelId = typeof chosen === 'string' ? chosen : (defaultMode.defaultModelId ?? '')
    this.identity = new SessionIdentity(this, resourceId, id)
    this.binding = new SessionBinding(this)
    this.defaults = new SessionDefaults(this, { modeId: defaultMode.id, modelId, yolo, settings })
    if (log !== undefined) this.defaults.restore(log.head, config.modes)
    this.settings = new ThreadSettings(this)
    this.mode = new SessionMode(this)
    this.model = new SessionModel(this)
    this.rules = new SessionRules(this)
    this.permissions = new SessionPermissions(this)
    this.grants = new SessionGrants(this)
    this.om = sessionMemory(this)
    this.subagents = { model: new SubagentModel(this) }
    this.state = new SessionState<State>(this, config.stateSchema as StateSchema<State> | undefined, initial)
    this.lifecycle = new ThreadLifecycle(this)
    this.conversation = new Conversation(this)
    this.binding.display.measureMemoryBy(this.om)
  }

  /** Leaves the thread. Waits stay open; a run at work ends as interrupted. */
  async close(): Promise<void> {
    await this.lifecycle.close()
    await this.log?.close()
  }

  /** Like `close`, but the session cannot be used afterwards. */
  end(): Promise<void> {
    this.lifecycle.refuseCommands()
    return this.close()
  }

  /** Binds the session to the thread it had in an earlier process. */
  async reopen(): Promise<void> {
    const threadId = this.log?.threadId
    if (threadId === undefined || (await this.core.store.getThread(threadId)) === null) return
    const tellNow = this.binding.bus.hold()
    try {
      await this.lifecycle.reopen(threadId)
    } finally {
      // Nobody can listen yet: hold the events, so that a caller who subscribes right away misses nothing.
      setImmediate(tellNow)
    }
  }

  /** Returns a request context for what is made for the session itself and not for a run. */
  requestContext(input: RequestContextInput | undefined): RequestContext {
    const context = requestContextOf(input)
    addHarness(context, this.core, {
      session: this,
      resourceId: this.identity.getResourceId(),
      threadId: this.binding.threadId,
      modeId: this.mode.get(),
      modelId: this.model.get(),
      emit: (event) => this.binding.emit(event),
    })
    return context
  }

  /** Records a change that the session restores later. Does nothing for a session without an id. */
  async keep(change: ConfigChange): Promise<void> {
    await this.log?.keep(change)
  }
}
