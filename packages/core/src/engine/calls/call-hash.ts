import { createHash } from 'node:crypto'
import { asJson, type HostTool, type JsonValue, type ToolCallRequest } from '@evener/protocol'

/** What an approval is bound to: other arguments, another definition of the tool or another folder give another hash. */
export function callHash(agentId: string, call: ToolCallRequest, tool: HostTool | undefined): string {
  return hashOf([agentId, call.toolName, definitionOf(tool), call.args, call.cwd ?? null])
}

/** What a tool says of itself. */
export function definitionHash(tool: HostTool): string {
  return hashOf(definitionOf(tool))
}

function definitionOf(tool: HostTool | undefined): JsonValue {
  if (tool === undefined) return null
  const { annotations = {}, description = null, inputSchema, name, serverName } = tool
  // A server changes its tools without asking us: whose it is and what it says of it was allowed as well.
  return [name, description, inputSchema, ...(serverName === undefined ? [] : [serverName, asJson(annotations)])]
}

function hashOf(value: JsonValue): string {
  return createHash('sha256').update(canonical(value)).digest('hex')
}

/** The same text for the same value, whatever the order of its keys. */
function canonical(value: JsonValue): string {
  if (Array.isArray(value)) return `[${value.map((item: JsonValue) => canonical(item)).join(',')}]`
  if (typeof value !== 'object' || value === null) return JSON.stringify(value)
  const entries = Object.entries(value).sort(([a], [b]) => (a < b ? -1 : 1))
  return `{${entries.map(([key, item]) => `${JSON.stringify(key)}:${canonical(item)}`).join(',')}}`
}
