import type { AgentConfig, Model } from './agent-config.ts'

/** How to reach a model. Requested anew whenever needed, so that short-lived tokens are renewed. */
export interface ModelConnectivityInfo {
  readonly model: Model
  /** Nobody chose the model. An agent that has a default of its own uses that. */
  readonly isDefault?: true
  readonly baseUrl?: string
  /** Headers that authenticate the caller. */
  headers(): Promise<Record<string, string>>
}

/** The account behind a connection, if the resolver knows it. */
export interface OrgConnection {
  readonly profile?: string
  readonly username?: string
  readonly instanceUrl?: string
}

export interface AgentConnectivity {
  readonly model: ModelConnectivityInfo
  readonly orgConnection?: OrgConnection
}

export interface ConnectivityRequest {
  readonly agentId: string
  readonly projectRoot: string
  readonly config: AgentConfig
  readonly abortSignal?: AbortSignal
}

/** Decides which model an agent uses and with whose credentials. A rejection fails the operation that needed it. */
export interface AgentConnectivityResolver {
  resolve(request: ConnectivityRequest): Promise<AgentConnectivity>
}
