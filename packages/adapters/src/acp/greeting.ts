import type { JsonObject } from '@inspan/protocol'
import { asObject, NO_FIELDS } from '../kit/fields.ts'

/** The version of the protocol that we speak. */
export const VERSION = 1

/** We offer no file system and no terminal: the agent uses its own, and asks about that as tool calls. */
export const GREETING: JsonObject = {
  protocolVersion: VERSION,
  clientCapabilities: { fs: { readTextFile: false, writeTextFile: false }, terminal: false },
  clientInfo: { name: 'inspan', version: '0.1.0' },
}

/** The capabilities that an agent reports when it is greeted, as far as we use them. */
export interface AgentCapabilities {
  readonly canLoad: boolean
  readonly canResume: boolean
  readonly images: boolean
  readonly httpServers: boolean
}

export const NO_CAPABILITIES: AgentCapabilities = Object.freeze({
  canLoad: false,
  canResume: false,
  images: false,
  httpServers: false,
})

export function capabilitiesOf(agent: JsonObject): AgentCapabilities {
  const sessions = asObject(agent['sessionCapabilities']) ?? NO_FIELDS
  return {
    canLoad: agent['loadSession'] === true,
    canResume: asObject(sessions['resume']) !== undefined,
    images: asObject(agent['promptCapabilities'])?.['image'] === true,
    httpServers: asObject(agent['mcpCapabilities'])?.['http'] === true,
  }
}
