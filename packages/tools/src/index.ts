export type { McpEvent } from './mcp/mcp-event.ts'
export { McpOAuth, type McpOAuthOptions } from './mcp/oauth.ts'
export { McpServers, type McpServersOptions } from './mcp/mcp-servers.ts'
