import { InspanError, type JsonObject, type Part } from '@inspan/protocol'
import type { MCPConfiguration } from '@inspan/protocol/chat'
import { promptOf } from '../launch/prompt.ts'
import type { AgentCapabilities } from './greeting.ts'

/** Returns the prompt as content blocks. Throws `unsupported` for parts that the agent cannot be given. */
export function promptBlocks(parts: readonly Part[], title: string, can: AgentCapabilities): readonly JsonObject[] {
  const { text, images } = promptOf(parts, title)
  if (images.length > 0 && !can.images) {
    throw new InspanError('unsupported', `${title} cannot be given images.`, {
      hint: 'Leave them out, or write them to files that the agent can read.',
    })
  }
  return [
    ...(text === '' ? [] : [{ type: 'text', text }]),
    ...images.map(({ mimeType, data }) => ({ type: 'image', mimeType, data })),
  ]
}

export function mcpServersOf(mcp: MCPConfiguration, title: string, can: AgentCapabilities): readonly JsonObject[] {
  return Object.entries(mcp).flatMap(([name, server]): readonly JsonObject[] => {
    if (server.enabled === false) return []
    if (server.type === 'stdio') {
      return [{ name, command: server.command, args: server.args ?? [], env: pairs(server.env) }]
    }
    if (!can.httpServers) {
      throw new InspanError('unsupported', `${title} cannot use the MCP server ${name}, which is reached over HTTP.`, {
        hint: 'Leave it out, or use a server that is started as a program.',
      })
    }
    return [{ type: 'http', name, url: String(server.url), headers: pairs(server.headers) }]
  })
}

function pairs(values: Readonly<Record<string, string>> = {}): readonly JsonObject[] {
  return Object.entries(values).map(([name, value]) => ({ name, value }))
}
