import type { StandardJSONSchemaV1, StandardSchemaV1 } from '@standard-schema/spec'
import type { Agent, RequestContext, ResolveModel, ToolsInput } from '@evener/agent'
import type {
  AgentDriver,
  Budget,
  HarnessEvent,
  OnInterrupted,
  PermissionRules,
  RawSpool,
  Store,
  ToolCategory,
} from '@evener/protocol'
import type { Redactor } from '../engine/log/redactor.ts'
import type { HeartbeatHandler } from './runs/heartbeats.ts'
import type { Observability } from './runs/observability.ts'
import type { RestoreRequestContext } from './agents/request-context.ts'
import type {
  CustomModelCatalogProvider,
  ModelAuthChecker,
  ModelGateway,
  ModelUseCountProvider,
  ModelUseCountTracker,
} from './models/model-types.ts'
import type { BuiltinToolId } from './tools/builtin-tools.ts'
import type { DeliveryPolicy } from './signals/notification.ts'
import type { WorkspaceInput } from './agents/workspace-slot.ts'

/** The user's own state, of whatever shape its schema gives it. */
export type HarnessState = Readonly<Record<string, unknown>>

/** Validates the whole state and, where it can be turned into JSON Schema, says the defaults. */
export type StateSchema<State> = StandardSchemaV1<unknown, State> & {
  readonly '~standard': { readonly jsonSchema?: StandardJSONSchemaV1.Converter }
}

/** What takes a turn: our own agents, or a foreign one such as `claudeCode()`. */
export type HarnessAgent = Agent | AgentDriver

/** What a value that is made anew for every run is made from. */
export interface DynamicContext {
  readonly requestContext: RequestContext
}

export type Dynamic<T> = T | ((context: DynamicContext) => T | Promise<T>)

export interface HarnessMode {
  readonly id: string
  readonly name?: string
  /** The mode to begin in; the same as `metadata.default`. */
  readonly default?: boolean
  /** The model when the mode is entered, unless another one was chosen in it before. Default: it stays what it was. */
  readonly defaultModelId?: string
  readonly description?: string
  /** Added to what the agent and the harness say. */
  readonly instructions?: string
  /** The mode that an approved plan leads to. */
  readonly transitionsTo?: string
  readonly metadata?: Readonly<Record<string, unknown>>
  /** Instead of the agent's tools. */
  readonly tools?: ToolsInput
  /** Besides the agent's tools. */
  readonly additionalTools?: ToolsInput
  /** The agent of this mode, if it is not the harness's. */
  readonly agent?: HarnessAgent
  /** What a run in this mode may use up, whatever its agent says and whether or not that is one of ours. */
  readonly budget?: Budget
}

export interface HarnessSubagent {
  readonly id: string
  readonly name: string
  readonly description: string
  readonly instructions: string
  readonly tools?: ToolsInput
  readonly allowedHarnessTools?: readonly string[]
  readonly allowedWorkspaceTools?: readonly string[]
  readonly defaultModelId?: string
  readonly maxSteps?: number
  readonly stopWhen?: unknown
  readonly forked?: boolean
}

export interface HarnessOMConfig {
  readonly defaultObserverModelId?: string
  readonly defaultReflectorModelId?: string
  readonly defaultObservationThreshold?: number
  readonly defaultReflectionThreshold?: number
}

/** Called besides our own lease. `acquire` throws when somebody else holds the thread. */
export interface ThreadLock {
  acquire(threadId: string): void | Promise<void>
  release(threadId: string): void | Promise<void>
}

/** Where the events of all sessions are published, for coordination between the parts of a program. */
export interface PubSub {
  publish(topic: string, event: HarnessEvent): void | Promise<void>
}

/** Standing rules; what is left out says nothing. */
export type StandingRules = Partial<PermissionRules>

export interface HarnessConfig<State extends HarnessState = HarnessState> {
  readonly id: string
  /** Whose threads these are, unless a session says otherwise. Default: the harness's `id`. */
  readonly resourceId?: string
  /** Default: in memory, gone with the harness. A store that is given stays open when the harness is destroyed. */
  readonly storage?: Store
  /** Validates the user's state as a whole at every change, and says its defaults. */
  readonly stateSchema?: StateSchema<State>
  /** Goes over the defaults of the schema. Keys that belong to the harness, such as `yolo`, are taken out. */
  readonly initialState?: Partial<State>
  /** Given back by `getResolvedMemory`; nothing observes conversations yet. */
  readonly memory?: Dynamic<object>
  readonly modes: readonly HarnessMode[]
  /** Backs every mode that has no agent of its own. */
  readonly agent?: HarnessAgent
  /** Default: the first mode that is marked as the default, else the first. */
  readonly defaultModeId?: string
  /** Added to what the agent says, before what the mode adds. */
  readonly instructions?: string
  /** Besides those of agents and modes. */
  readonly tools?: Dynamic<ToolsInput>
  readonly workspace?: WorkspaceInput
  /** For tools to find in their request context; opened and closed by whoever made it. */
  readonly browser?: Dynamic<object>
  /** Listed by `listSubagents`, and their names shown; no tool starts one yet. */
  readonly subagents?: readonly HarnessSubagent[]
  /** Makes models of names. Default: `@ai-sdk/<provider>`, loaded on first use. */
  readonly resolveModel?: ResolveModel
  /** What `session.om` says where nothing was chosen. */
  readonly omConfig?: HarnessOMConfig
  readonly disableBuiltinTools?: readonly BuiltinToolId[]
  readonly heartbeatHandlers?: readonly HeartbeatHandler[]
  /** Names threads, runs, turns, messages, questions, notifications and queued messages. */
  readonly idGenerator?: () => string
  /** Whether models of a provider may be used; `undefined` leaves it to keys in the environment and of gateways. */
  readonly modelAuthChecker?: ModelAuthChecker
  /** How often each model was used: the list of models begins with the most used. */
  readonly modelUseCountProvider?: ModelUseCountProvider
  /** Told of every switch to another model. */
  readonly modelUseCountTracker?: ModelUseCountTracker
  /** Models besides those of known providers and gateways; overrules both. */
  readonly customModelCatalogProvider?: CustomModelCatalogProvider
  readonly gateways?: readonly ModelGateway[]
  /** The category of a tool by its name; `null` leaves it to names that are known. */
  readonly toolCategoryResolver?: (toolName: string) => ToolCategory | null
  /** Gets every event but `display_state_changed`, under `harness:<id>`. */
  readonly pubsub?: PubSub
  readonly threadLock?: ThreadLock
  /** Gets the spans of all runs, scores and feedback. */
  readonly observability?: Observability
  /** How notifications are delivered, by source and priority. Default: see the table in docs/signals.md. */
  readonly notifications?: DeliveryPolicy
  /** Rules that hold in every thread, whatever a session adds. */
  readonly permissions?: StandingRules
  /**
   * Applied to what agents and tools say before it is stored; where it throws, the text is withheld. What users say, and the
   * sessions of foreign agents, are not redacted.
   */
  readonly redact?: Redactor
  /** Rebuilds what of a request context is not JSON, for a run that continues in another process. Called once per run. */
  readonly restoreRequestContext?: RestoreRequestContext
  /** What to do about a call that a crash cut short, for tools that do not say so themselves. Default: `report`. */
  readonly onInterrupted?: OnInterrupted
  /** Where agents record their raw output: that of a thread is removed with it. */
  readonly spool?: RawSpool
}
