import type { AgentConfig } from '@inspan/protocol/chat'
import type { ToolSearchOptions } from '@inspan/core'

/** The config that our harnesses take. */
export interface EngineAgentConfig extends AgentConfig {
  /** Offers a search for tools instead of all tools. `alwaysActive` lists those that are offered at once. */
  toolSearch?: ToolSearchOptions
  /** Offers a search for skills instead of naming every skill. */
  skillSearch?: boolean
}
