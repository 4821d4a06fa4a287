import { fileURLToPath } from 'node:url'
import type { MCPConfiguration } from '@inspan/protocol/chat'

/** An MCP server with one tool, `echo`, which also returns the secret that the server was given. */
export const toyServer: MCPConfiguration = startingAfter(0)

/** The same server with a delay before it starts. */
export function startingAfter(ms: number): MCPConfiguration {
  return {
    toy: {
      type: 'stdio',
      command: process.execPath,
      args: [fileURLToPath(new URL('mcp-echo.mjs', import.meta.url))],
      env: { TOY_TOKEN: 'secret', TOY_STARTS_AFTER_MS: String(ms) },
    },
  }
}
