import type { JsonObject, JsonValue } from '@inspan/protocol'
import type { CallRecord } from '../../kit/calls.ts'
import { asArray, asBoolean, asInteger, asObject, asText, NO_FIELDS } from '../../kit/fields.ts'
import type { ReportedOutcome } from '../../kit/tool-table.ts'

/** Returns an item as a tool call, under its name in print mode. `undefined` if it is not a call. */
export function callOfItem(item: JsonObject): Pick<CallRecord, 'name' | 'input' | 'serverName'> | undefined {
  switch (item['type']) {
    case 'commandExecution':
      return { name: 'command_execution', input: { command: item['command'] ?? null, cwd: item['cwd'] ?? null } }
    case 'fileChange':
      return { name: 'file_change', input: { changes: changesOf(item) } }
    case 'mcpToolCall': {
      const server = asText(item['server'])
      const name = `mcp__${server ?? ''}__${asText(item['tool']) ?? ''}`
      const input = asObject(item['arguments']) ?? NO_FIELDS
      return server === undefined ? { name, input } : { name, input, serverName: server }
    }
    case 'dynamicToolCall':
      return { name: asText(item['tool']) ?? 'dynamic_tool_call', input: asObject(item['arguments']) ?? NO_FIELDS }
    case 'collabAgentToolCall':
      return {
        name: collabTool(item),
        input: { prompt: item['prompt'] ?? null, receivers: item['receiverThreadIds'] ?? null },
      }
    case 'webSearch':
      return { name: 'web_search', input: { query: item['query'] ?? null, action: item['action'] ?? null } }
    case 'imageView':
      return { name: 'view_image', input: { path: item['path'] ?? null } }
    default:
      return undefined
  }
}

function changesOf(item: JsonObject): readonly JsonValue[] {
  return (asArray(item['changes']) ?? []).map((change) => {
    const fields = asObject(change)
    if (fields === undefined) return change
    const kind = asObject(fields['kind'])
    const movePath = asText(kind?.['move_path'])
    return {
      path: fields['path'] ?? null,
      kind: kind?.['type'] ?? fields['kind'] ?? null,
      ...(movePath === undefined ? {} : { movePath }),
      diff: fields['diff'] ?? null,
    }
  })
}

/** Returns how an item ended. A command that "completed" without an exit code does not tell. */
export function outcomeOfItem(item: JsonObject): ReportedOutcome {
  const result = item['aggregatedOutput'] ?? item['result'] ?? item['error'] ?? item['contentItems'] ?? pathsOf(item)
  const exitCode = asInteger(item['exitCode'])
  if (exitCode !== undefined) return { exitCode, isSuccess: exitCode === 0, result }
  const succeeded = asBoolean(item['success'])
  if (succeeded !== undefined) return { isSuccess: succeeded, result }
  switch (item['status']) {
    case 'failed':
      return { isSuccess: false, result: result ?? item['status'] }
    case 'declined':
      return { isSuccess: false, isUndone: true, result: result ?? item['status'] }
    case 'completed':
      return item['type'] === 'commandExecution' ? { result } : { isSuccess: true, result }
    default:
      return { result }
  }
}

/** Returns the changed files; the call tells how they changed. */
function pathsOf(item: JsonObject): JsonValue {
  const changes = asArray(item['changes'])
  return changes === undefined ? null : changes.map((change) => asObject(change)?.['path'] ?? null)
}

/** Returns the item in the format of print mode, for `CodexSubagents`. */
export function collabItem(item: JsonObject): JsonObject {
  const states = Object.entries(asObject(item['agentsStates']) ?? NO_FIELDS).map(([id, state]) => {
    const status = asText(asObject(state)?.['status'])
    return [id, { status: status === undefined ? null : snakeCase(status) }] as const
  })
  return {
    tool: collabTool(item),
    status: item['status'] ?? null,
    receiver_thread_ids: item['receiverThreadIds'] ?? null,
    agents_states: Object.fromEntries(states),
  }
}

function collabTool(item: JsonObject): string {
  return snakeCase(asText(item['tool']) ?? 'collab_agent_tool_call')
}

function snakeCase(name: string): string {
  return name.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`)
}
