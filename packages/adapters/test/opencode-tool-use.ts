import type { JsonObject } from '@inspan/protocol'

let calls = 0

/** A record of a tool as OpenCode and Kilo Code print it, each with ids of its own. */
export function toolUse(tool: string, state: JsonObject): JsonObject {
  calls += 1
  const ids = { id: `prt_${calls}`, messageID: 'm', sessionID: 's', callID: `call_${calls}` }
  return { type: 'tool_use', timestamp: 1, sessionID: 's', part: { ...ids, type: 'tool', tool, state } }
}
