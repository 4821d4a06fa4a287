import type { ToolAnnotations } from './agent-event.ts'

/*
 * How MCP servers are configured and what is known of them. Configurations are built and changed by callers, hence not
 * `readonly`.
 */

export interface MCPStdioServerConfig {
  type: 'stdio'
  command: string
  args?: string[]
  env?: Record<string, string>
  enabled?: boolean
  /** Milliseconds for connecting and listing the tools. */
  timeout?: number
}

export interface MCPReconnectionOptions {
  maxRetries?: number
  /** Milliseconds. */
  initialReconnectionDelay?: number
  maxReconnectionDelay?: number
  reconnectionDelayGrowFactor?: number
}

export interface MCPRemoteServerConfig {
  type: 'remote'
  url: string | URL
  headers?: Record<string, string>
  enabled?: boolean
  timeout?: number
  /** What is left out has its value from `MCP_RECONNECTION_DEFAULTS`. */
  reconnectionOptions?: MCPReconnectionOptions
}

export type MCPServerConfig = MCPStdioServerConfig | MCPRemoteServerConfig

/** By server name. */
export type MCPConfiguration = Record<string, MCPServerConfig>

export const MCP_RECONNECTION_DEFAULTS: Readonly<Required<MCPReconnectionOptions>> = Object.freeze({
  maxRetries: 2,
  initialReconnectionDelay: 1_000,
  maxReconnectionDelay: 30_000,
  reconnectionDelayGrowFactor: 1.5,
})

export const McpServerStatus = {
  Connected: 'connected',
  Connecting: 'connecting',
  Disabled: 'disabled',
  Error: 'error',
  /** A server that was connected is being connected anew. */
  Reconnecting: 'reconnecting',
} as const

export type McpServerStatus = (typeof McpServerStatus)[keyof typeof McpServerStatus]

/** Values are added, never renamed or removed. */
export const McpServerErrorCategory = {
  ConnectTimeout: 'connect-timeout',
  Http401: 'http-401',
  Http403: 'http-403',
  Http4xx: 'http-4xx',
  Http5xx: 'http-5xx',
  TransportEof: 'transport-eof',
  ProtocolError: 'protocol-error',
  ConfigError: 'config-error',
  Aborted: 'aborted',
  Unknown: 'unknown',
} as const

export type McpServerErrorCategory = (typeof McpServerErrorCategory)[keyof typeof McpServerErrorCategory]

export interface McpServerErrorDetail {
  readonly category: McpServerErrorCategory
  /** Of the JSON-RPC error, when the failure was one. */
  readonly code?: number
  /** Whether connecting again, or with fresh credentials, may help. */
  readonly retriable: boolean
}

export type McpToolAnnotations = ToolAnnotations

export interface McpToolInfo {
  /** What the model calls it; how it is made of server and tool differs between harnesses. */
  readonly name: string
  readonly serverName: string
  /** As the server names it: with `serverName` the same on every harness. */
  readonly toolName: string
  readonly description?: string
  /** JSON Schema. */
  readonly inputSchema?: Record<string, unknown>
  readonly annotations?: McpToolAnnotations
}

export interface McpServerInfo {
  readonly name: string
  readonly status: McpServerStatus
  readonly tools: McpToolInfo[]
  /** For a person, without stack or paths. There when the status is `error`, like the detail. */
  readonly error?: string
  readonly errorDetail?: McpServerErrorDetail
}
