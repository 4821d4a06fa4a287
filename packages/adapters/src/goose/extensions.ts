import type { JsonObject, JsonValue } from '@inspan/protocol'
import type { MCPConfiguration, MCPServerConfig } from '@inspan/protocol/chat'
import { asArray, asObject, asText, NO_FIELDS } from '../kit/fields.ts'
import type { LaunchRequest } from '../launch/launch-plan.ts'
import { offeredTools, type NativeTools } from '../launch/offered-tools.ts'
import type { RunWarning } from '../launch/run-note.ts'
import { gooseProfile } from './profile.ts'

/** The extensions that Goose is given. It can do only what their tools can. */
export interface GooseExtensions {
  readonly extensions: readonly JsonObject[]
  readonly warnings: readonly RunWarning[]
}

/** The built-in extensions that we use, with their tools. */
const PLATFORM: Readonly<Record<string, readonly string[]>> = {
  developer: ['shell', 'write', 'edit', 'tree', 'read_image'],
  analyze: ['analyze'],
  summon: ['delegate', 'load'],
  skills: ['load_skill'],
}

/** Goose reads and searches files only through its shell. */
const TOOLS: NativeTools = {
  categories: {
    read: ['tree', 'read_image', 'analyze'],
    edit: ['write', 'edit'],
    execute: ['shell'],
    other: [],
  },
  harmless: ['delegate', 'load', 'load_skill'],
  kinds: {
    shell: ['shell'],
    read: [],
    search: [],
    list: ['tree'],
    write: ['write'],
    edit: ['edit'],
    'web-search': [],
    'web-fetch': [],
    subagent: ['delegate'],
    skill: ['load_skill'],
  },
}
const WHY = 'It runs its tools itself, and reads files through its shell.'

/** Translates our rules into a list of extensions. Nothing else is offered, also not to subagents. */
export function gooseExtensions(
  request: Pick<LaunchRequest, 'rules' | 'permissions' | 'allowUngoverned' | 'mcp'>,
): GooseExtensions {
  const { title } = gooseProfile
  const { offered, mcp, warnings } = offeredTools(request, TOOLS, { title, why: WHY, hidesMcpTools: false })
  const own = Object.entries(PLATFORM).flatMap(([name, tools]) => {
    const available = tools.filter((tool) => offered.has(tool))
    if (available.length === 0) return []
    // An empty list would mean all tools.
    return [{ type: 'platform', name, ...(available.length === tools.length ? {} : { available_tools: available }) }]
  })
  return { extensions: [...own, ...mcpExtensions(mcp)], warnings }
}

function mcpExtensions(servers: MCPConfiguration): readonly JsonObject[] {
  return Object.entries(servers).map(([name, server]) => mcpExtension(name, server))
}

function mcpExtension(name: string, server: MCPServerConfig): JsonObject {
  const timeout: JsonObject = server.timeout === undefined ? {} : { timeout: Math.ceil(server.timeout / 1000) }
  if (server.type === 'remote') {
    return { type: 'streamable_http', name, uri: String(server.url), headers: server.headers ?? {}, ...timeout }
  }
  return { type: 'stdio', name, cmd: server.command, args: server.args ?? [], envs: server.env ?? {}, ...timeout }
}

/**
 * Whether a session has exactly these extensions. A resumed session keeps the extensions it was begun with, whatever it
 * is reported, so one with others must not be resumed.
 */
export function hasExtensions(session: JsonObject, wanted: readonly JsonObject[]): boolean {
  const data = asObject(session['extension_data']) ?? NO_FIELDS
  const stored = Object.entries(data).find(([key]) => key.startsWith('enabled_extensions'))?.[1]
  const extensions = asArray(asObject(stored)?.['extensions'])
  if (extensions === undefined) return false
  const keys = (list: readonly JsonValue[]): string => JSON.stringify(list.map(extensionKey).toSorted())
  return keys(extensions) === keys(wanted)
}

function extensionKey(extension: JsonValue): string {
  const fields = asObject(extension) ?? NO_FIELDS
  const tools = (asArray(fields['available_tools']) ?? []).map((tool) => asText(tool) ?? '').toSorted()
  return JSON.stringify([
    fields['type'] ?? null,
    fields['name'] ?? null,
    tools,
    fields['cmd'] ?? null,
    fields['args'] ?? null,
    fields['uri'] ?? null,
  ])
}
