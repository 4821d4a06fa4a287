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
import type { Redactor } from '../engine/redactor.ts'
import type { HeartbeatHandler } from './heartbeats.ts'
import type { Observability } from './observability.ts'
import type { RestoreRequestContext } from './request-context.ts'
import type {
  CustomModelCatalogProvider,
  ModelAuthChecker,
  ModelGateway,
  ModelUseCountProvider,
  ModelUseCountTracker,
} from './models/model-types.ts'
import type { BuiltinToolId } from './tools/builtin-tools.ts'
import type { DeliveryPolicy } from './signals/notification.ts'
import type { WorkspaceInput } from './workspace-slot.ts'

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
  /** Older form of `metadata.default`. */
  readonly default?: boolean
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
  readonly resourceId?: string
  readonly storage?: Store
  readonly stateSchema?: StateSchema<State>
  readonly initialState?: Partial<State>
  readonly memory?: Dynamic<object>
  readonly modes: readonly HarnessMode[]
  readonly agent?: HarnessAgent
  readonly defaultModeId?: string
  readonly instructions?: string
  readonly tools?: Dynamic<ToolsInput>
  readonly workspace?: WorkspaceInput
  readonly browser?: Dynamic<object>
  readonly subagents?: readonly HarnessSubagent[]
  readonly resolveModel?: ResolveModel
  readonly omConfig?: HarnessOMConfig
  readonly disableBuiltinTools?: readonly BuiltinToolId[]
  readonly heartbeatHandlers?: readonly HeartbeatHandler[]
  readonly idGenerator?: () => string
  readonly modelAuthChecker?: ModelAuthChecker
  readonly modelUseCountProvider?: ModelUseCountProvider
  readonly modelUseCountTracker?: ModelUseCountTracker
  readonly customModelCatalogProvider?: CustomModelCatalogProvider
  readonly gateways?: readonly ModelGateway[]
  readonly toolCategoryResolver?: (toolName: string) => ToolCategory | null
  readonly pubsub?: PubSub
  readonly threadLock?: ThreadLock
  /** Spans of all runs, scores and feedback are told to it. */
  readonly observability?: Observability
  /** What becomes of notifications, where the defaults are not wanted. */
  readonly notifications?: DeliveryPolicy
  /** What a new thread starts from: rules that hold whatever a session adds. */
  readonly permissions?: StandingRules
  /**
   * Takes out of what agents and tools say what must not be written down; where it throws, the text is withheld. What users
   * say stays, and so do the sessions of foreign agents.
   */
  readonly redact?: Redactor
  /** Asked once for a run that goes on in another process than it began in, such as after a restart. */
  readonly restoreRequestContext?: RestoreRequestContext
  /** What becomes of calls that a crash cut short, of tools that do not say so themselves. Default: `report`. */
  readonly onInterrupted?: OnInterrupted
  /** Where agents put the raw output of their runs: what a thread has there goes with it. */
  readonly spool?: RawSpool
}
