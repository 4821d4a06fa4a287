import type { MCPConfiguration } from '@inspan/protocol/chat'
import { TOOL_SERVER_NAME, type ToolServer } from '@inspan/protocol/driver'

/** Returns the configuration of the server that serves our own tools. */
export function ownServer(server: ToolServer | undefined): MCPConfiguration {
  if (server === undefined) return {}
  const headers = { Authorization: `Bearer ${server.token}` }
  return { [TOOL_SERVER_NAME]: { type: 'remote', url: server.url, headers } }
}
