import { createHash } from 'node:crypto'
import type { JsonValue } from '@inspan/protocol'
import type { HostTool, ToolCallRequest } from '@inspan/protocol/driver'
import { asJson } from '@inspan/protocol/log'

/** Returns the hash an approval is bound to. It changes with the arguments, the tool's definition and the folder. */
export function callHash(agentId: string, call: ToolCallRequest, tool: HostTool | undefined): string {
  return hashOf([agentId, call.toolName, definitionOf(tool), call.args, call.cwd ?? null])
}

/** Returns the hash of a tool's definition. */
export function definitionHash(tool: HostTool): string {
  return hashOf(definitionOf(tool))
}

function definitionOf(tool: HostTool | undefined): JsonValue {
  if (tool === undefined) return null
  const { annotations = {}, description = null, inputSchema, name, serverName } = tool
  // A server may change its tools at any time, so its name and annotations are part of what was allowed.
  return [name, description, inputSchema, ...(serverName === undefined ? [] : [serverName, asJson(annotations)])]
}

function hashOf(value: JsonValue): string {
  return createHash('sha256').update(canonical(value)).digest('hex')
}

/** Returns the same text for the same value, whatever the order of its keys. */
function canonical(value: JsonValue): string {
  if (Array.isArray(value)) return `[${value.map((item: JsonValue) => canonical(item)).join(',')}]`
  if (typeof value !== 'object' || value === null) return JSON.stringify(value)
  const entries = Object.entries(value).sort(([a], [b]) => (a < b ? -1 : 1))
  return `{${entries.map(([key, item]) => `${JSON.stringify(key)}:${canonical(item)}`).join(',')}}`
}
