import type { AgentConfig, Model } from './agent-config.ts'

/** How a model is reached. Asked for anew whenever needed, so that short-lived tokens are renewed. */
export interface ModelConnectivityInfo {
  readonly model: Model
  readonly baseUrl?: string
  /** Headers that prove who calls. */
  headers(): Promise<Record<string, string>>
}

/** The account behind a connection, where the resolver knows one. */
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

/** Settles which model an agent talks to, and as whom. A rejection fails what needed the answer. */
export interface AgentConnectivityResolver {
  resolve(request: ConnectivityRequest): Promise<AgentConnectivity>
}
