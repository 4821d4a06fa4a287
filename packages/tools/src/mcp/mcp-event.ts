import type { TelemetryPayloads } from '@inspan/protocol/chat'

type McpEventType = Extract<keyof TelemetryPayloads, `mcp-${string}`>

/** What happens to MCP servers: numbers and names, never arguments or results. */
export type McpEvent = { [Type in McpEventType]: { readonly type: Type } & TelemetryPayloads[Type] }[McpEventType]
