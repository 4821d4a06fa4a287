import type { StandardJSONSchemaV1, StandardSchemaV1 } from '@standard-schema/spec'
import type { Agent, RequestContext, ResolveModel, StopCondition, ToolsInput } from '@inspan/agent'
import type { JsonObject, PermissionRules, ToolCategory } from '@inspan/protocol'
import type { AgentDriver, Budget, OnInterrupted, RawSpool, ToolSource } from '@inspan/protocol/driver'
import type { MCPConfiguration, ToolDefinition } from '@inspan/protocol/chat'
import type { HarnessEvent } from '@inspan/protocol/harness'
import type { Store } from '@inspan/protocol/store'
import type { McpServersOptions, ToolSearchOptions, TrustedFolders } from '@inspan/tools'
import type { Redactor, ThreadRuntimeOptions } from '../engine/index.ts'
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

/** The application's own state, in the shape its schema gives it. */
export type StateShape = Readonly<Record<string, unknown>>

/**
 * Validates the whole state: a Standard Schema (zod …), a `StandardJSONSchemaV1`, or a plain JSON Schema. One that can be
 * turned into JSON Schema also provides the defaults.
 */
export type StateSchema<State> =
  | (StandardSchemaV1<unknown, State> & {
      readonly '~standard': { readonly jsonSchema?: StandardJSONSchemaV1.Converter }
    })
  | StandardJSONSchemaV1<unknown, State>
  | JsonObject

/** Something that takes turns: an `Agent`, or a foreign agent such as `claudeCode()`. */
export type HarnessAgent = Agent | AgentDriver

/** What a function gets that makes a value for each run. */
export interface DynamicContext {
  readonly requestContext: RequestContext
}

export type HarnessDynamic<T> = T | ((context: DynamicContext) => T | Promise<T>)

export interface HarnessMode {
  /** Names the mode in calls, events and the store. */
  readonly id: string
  /** The display name. */
  readonly name?: string
  /** The mode to begin in; the same as `metadata.default`. */
  readonly default?: boolean
  /** The model on entering the mode, unless another was chosen in the mode before. Default: the current model stays. */
  readonly defaultModelId?: string
  /** What the mode is for, for people who choose one. */
  readonly description?: string
  /** Added to the instructions of the agent and the harness. */
  readonly instructions?: string
  /** The mode that an approved plan leads to. */
  readonly transitionsTo?: string
  /** Anything that the application wants to store with the mode. */
  readonly metadata?: Readonly<Record<string, unknown>>
  /** Replaces the agent's tools. */
  readonly tools?: ToolsInput
  /** Added to the agent's tools. */
  readonly additionalTools?: ToolsInput
  /** Where further tools come from. The code that created a source closes it. */
  readonly toolSources?: readonly ToolSource[]
  /** The agent of this mode. Default: the harness's. */
  readonly agent?: HarnessAgent
  /** Limits of a run in this mode. Overrides the agent's own budget, and holds for foreign agents too. */
  readonly budget?: Budget
}

/** A kind of subagent that the tool `subagent` can start. */
export interface HarnessSubagent {
  /** The `agentType` of calls and events. */
  readonly id: string
  /** The display name. */
  readonly name: string
  /** When to use the subagent. The parent's model reads it in the description of the tool. */
  readonly description: string
  /** The system prompt. */
  readonly instructions: string
  /** Any agent, including foreign ones such as `claudeCode()`. Default: one with these instructions, tools and model. */
  readonly agent?: HarnessAgent
  /** Its own tools. */
  readonly tools?: ToolsInput
  /** Names from the harness's `tools`; also `ask_user` and `subagent`. */
  readonly allowedHarnessTools?: readonly string[]
  /** Exposed names of the workspace tools that it gets. Default: all. */
  readonly allowedWorkspaceTools?: readonly string[]
  /** The model, resolved by `resolveModel`, then by gateways. Default: the parent's model. */
  readonly defaultModelId?: string
  /** How many answers of the model it may take. Default: 50. */
  readonly maxSteps?: number
  /** Ends it early if one of the conditions holds. */
  readonly stopWhen?: StopCondition | readonly StopCondition[]
  /**
   * Runs it on a fork of the parent's thread, as the parent's agent. The call can override this. The definition's own
   * instructions, tools, model and limits do not apply then.
   */
  readonly forked?: boolean
}

/** How far subagents may go. */
export interface SubagentLimits {
  /** How deep they may be nested: a subagent of the session's agent is at depth 1. Default: 3. */
  readonly depth?: number
  /** How many may work below the thread of a session at the same time, at any depth. Default: 8. */
  readonly concurrent?: number
}

export interface HarnessOMConfig {
  readonly defaultObserverModelId?: string
  readonly defaultReflectorModelId?: string
  readonly defaultObservationThreshold?: number
  readonly defaultReflectionThreshold?: number
}

/** An additional lock, besides our own lease. `acquire` throws when somebody else holds the thread. */
export interface ThreadLock {
  acquire(threadId: string): void | Promise<void>
  release(threadId: string): void | Promise<void>
}

/** Receives the events of all sessions, for coordination between the parts of a program. */
export interface PubSub {
  publish(topic: string, event: HarnessEvent): void | Promise<void>
}

export interface HarnessProject {
  readonly folder: string
  /** The folders that are trusted, or true for a folder that was checked otherwise. Default: those of `inspan trust`. */
  readonly trust?: TrustedFolders | true
}

/** Standing rules; all kinds are optional. */
export type StandingRules = Partial<PermissionRules>

/** Of every thread, as `ThreadRuntime` takes them. */
type ThreadTimes = Pick<ThreadRuntimeOptions, 'approvalTimeout' | 'parkAfter' | 'keepWarm' | 'handoverTokens'>

export interface HarnessConfig<State extends StateShape = StateShape> extends ThreadTimes {
  /** Identifies the harness: a run continues in another process only in a harness with the same id. */
  readonly id: string
  /** The owner of the threads, such as a user or a project, unless a session sets another. Default: the harness's `id`. */
  readonly resourceId?: string
  /** Where threads are kept. A store that you pass stays open when the harness is destroyed. Default: in memory, gone with the harness. */
  readonly storage?: Store
  /** Validates the application's state as a whole at every change, and provides its defaults. */
  readonly stateSchema?: StateSchema<State>
  /** Overrides the defaults of the schema. Keys that belong to the harness, such as `yolo`, are taken out. */
  readonly initialState?: Partial<State>
  /** A `Memory`, which replaces older messages in requests to the model. Only `getResolvedMemory` calls a function. */
  readonly memory?: HarnessDynamic<object>
  /** At least one. A mode can choose the agent, its model, its instructions and its tools. */
  readonly modes: readonly HarnessMode[]
  /** The agent of every mode that has none of its own. */
  readonly agent?: HarnessAgent
  /** The mode that a new thread begins in. Default: the first mode that is marked as the default, else the first. */
  readonly defaultModeId?: string
  /** Added to the agent's instructions, before those of the mode. */
  readonly instructions?: string
  /** Added to the tools of agents and modes. */
  readonly tools?: HarnessDynamic<ToolsInput>
  /** Where further tools come from. The code that created a source closes it. */
  readonly toolSources?: readonly ToolSource[]
  /** MCP servers by name, connected when the harness starts and ended with it. Their tools are called `server_tool`. */
  readonly mcpServers?: MCPConfiguration
  /** How MCP servers are used: folder, time limits, authorization. */
  readonly mcp?: Omit<McpServersOptions, 'onEvent'>
  /** Tools that the application carries out itself; it answers their waits with the results. */
  readonly consumerTools?: readonly ToolDefinition[]
  /** Skill folders, or folders of skill folders. Relative ones start from the project's folder. */
  readonly skills?: readonly string[]
  /** Offers a search for skills instead of naming every one. */
  readonly skillSearch?: boolean
  /** Markdown files, or folders of them, that are added to the instructions. */
  readonly rules?: readonly string[]
  /** A project whose AGENTS.md and usual skill folders are used, once its folder is trusted. */
  readonly project?: HarnessProject
  /** Hides tools behind a search, so that many of them cost a model as little as one. */
  readonly toolSearch?: ToolSearchOptions
  /** The folder and shell of the agents: a `Workspace`, its settings, or a function that makes one for each run. */
  readonly workspace?: WorkspaceInput
  /**
   * Agents without a browser of their own get its tools, if it has any (`new BrowserTools`); tools find it in their
   * request context. The code that created it closes it.
   */
  readonly browser?: HarnessDynamic<object>
  /** What the built-in tool `subagent` can start; without any, there is no such tool. */
  readonly subagents?: readonly HarnessSubagent[]
  /** How deep subagents may be nested, and how many may work at the same time. */
  readonly subagentLimits?: SubagentLimits
  /** Returns the model for a model id. Default: `@ai-sdk/<provider>`, loaded on first use. */
  readonly resolveModel?: ResolveModel
  /** Defaults of `session.om`. */
  readonly omConfig?: HarnessOMConfig
  /** Built-in tools that agents do not get. */
  readonly disableBuiltinTools?: readonly BuiltinToolId[]
  /** Functions that the harness calls at regular intervals while it is open. */
  readonly heartbeatHandlers?: readonly HeartbeatHandler[]
  /** Makes the ids of threads, runs, turns, messages, questions, notifications and queued messages. */
  readonly idGenerator?: () => string
  /** Whether models of a provider may be used; `undefined` leaves it to keys in the environment and of gateways. */
  readonly modelAuthChecker?: ModelAuthChecker
  /** How often each model was used: the list of models begins with the most used. */
  readonly modelUseCountProvider?: ModelUseCountProvider
  /** Called with the model id at every `session.model.switch`. */
  readonly modelUseCountTracker?: ModelUseCountTracker
  /** Adds models to those of known providers and gateways, and overrides both. */
  readonly customModelCatalogProvider?: CustomModelCatalogProvider
  /** Services that offer models of several providers under one address. */
  readonly gateways?: readonly ModelGateway[]
  /** Returns the category of a tool by its name; `null` falls back to the known tool names. */
  readonly toolCategoryResolver?: (toolName: string) => ToolCategory | null
  /** Receives every event except `display_state_changed`, on the topic `harness:<id>`. */
  readonly pubsub?: PubSub
  /** A lock of your own, acquired in addition to the store's lease. */
  readonly threadLock?: ThreadLock
  /** Receives the spans of all runs, scores and feedback. */
  readonly observability?: Observability
  /** How notifications are delivered, by source and priority. Default: see the table in docs/guide/signals.md. */
  readonly notifications?: DeliveryPolicy
  /** Rules that hold in every thread, whatever a session adds. */
  readonly permissions?: StandingRules
  /**
   * Applied to the output of agents and tools before it is stored; if it throws, the text is withheld. Messages of users and
   * the sessions of foreign agents are not redacted.
   */
  readonly redact?: Redactor
  /**
   * Rebuilds the part of a request context that is not JSON, for a run that continues in another process. Called once
   * per run.
   */
  readonly restoreRequestContext?: RestoreRequestContext
  /** What to do about a call that a crash interrupted, for tools that do not set it themselves. Default: `report`. */
  readonly onInterrupted?: OnInterrupted
  /**
   * Whether steps of agents that report no cost are recorded with an estimate from list prices. Default: only where an
   * agent or a mode has a budget in dollars.
   */
  readonly estimateCosts?: boolean
  /** Where agents record their raw output. The output of a thread is deleted with the thread. */
  readonly spool?: RawSpool
}
