import type { ToolAnnotations } from './agent-event.ts'

/*
 * How MCP servers are configured and what is known about them. Not `readonly`, because callers build and change
 * configurations.
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
  /** Missing fields default to `MCP_RECONNECTION_DEFAULTS`. */
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
  /** A server that was connected is being reconnected. */
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
  /** The code of the JSON-RPC error, if the failure was one. */
  readonly code?: number
  /** Whether reconnecting, possibly with fresh credentials, may help. */
  readonly retriable: boolean
}

export type McpToolAnnotations = ToolAnnotations

export interface McpToolInfo {
  /** The name the model uses. Harnesses build it from server and tool in different ways. */
  readonly name: string
  readonly serverName: string
  /** The server's own name for the tool. Together with `serverName` it is the same on every harness. */
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
  /** For a person, without stack or paths. Set when the status is `error`, like `errorDetail`. */
  readonly error?: string
  readonly errorDetail?: McpServerErrorDetail
}
