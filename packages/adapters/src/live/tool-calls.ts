import type { JsonObject, ToolCategory } from '@inspan/protocol'
import type { ToolCallRequest } from '@inspan/protocol/driver'
import { kindOfTool, mcpToolName, type ToolKind } from '../launch/tool-kinds.ts'

/** A tool call as a foreign CLI announces it. */
export interface NativeCall {
  readonly toolCallId: string
  /** The CLI's name of the tool. */
  readonly toolName: string
  readonly input: JsonObject
  /** The call under our own names, if its name alone does not tell. */
  readonly as?: { readonly toolName: string; readonly args: JsonObject }
  /** The session's directory, which rules take for the project. */
  readonly cwd?: string
  /** The current directory, if that is another one. */
  readonly workdir?: string
  readonly parentToolCallId?: string
  readonly serverName?: string
}

/** Our own name of each kind of tool: one rule and one approval hold for every agent, and for a repeated question. */
const NAMES: Readonly<Record<ToolKind, string>> = {
  shell: 'execute_command',
  read: 'read_file',
  search: 'grep',
  list: 'list_files',
  write: 'write_file',
  edit: 'edit_file',
  'web-search': 'web_search',
  'web-fetch': 'web_fetch',
  subagent: 'subagent',
  skill: 'skill',
}

/** Names of items that are not tools of a model. */
const ITEMS: ReadonlyMap<string, ToolKind> = new Map([
  ['command_execution', 'shell'],
  ['file_change', 'edit'],
  ['view_image', 'read'],
])

const CATEGORIES: Readonly<Record<ToolKind, ToolCategory>> = {
  shell: 'execute',
  read: 'read',
  search: 'read',
  list: 'read',
  write: 'edit',
  edit: 'edit',
  'web-search': 'other',
  'web-fetch': 'other',
  subagent: 'other',
  skill: 'other',
}

/** Fields in which CLIs keep what we call `path`. */
const PATH_FIELDS: readonly string[] = ['file_path', 'notebook_path', 'path']

/** Returns the call under our own name and with the arguments that rules look at. Unknown tools stay as they are. */
export function canonicalCall(call: NativeCall): ToolCallRequest {
  if (call.as !== undefined) return canonicalAs(call, call.as)
  const kind = kindOfTool(call.toolName) ?? ITEMS.get(call.toolName)
  const isMcp = call.serverName !== undefined || mcpToolName(call.toolName) !== undefined
  if (kind === undefined || isMcp) return request(call, call.toolName, call.input, isMcp ? 'mcp' : 'other')
  return request(call, NAMES[kind], canonicalInput(kind, call), CATEGORIES[kind])
}

/** Returns the call under the CLI's own name; `undefined` if that is ours too. */
export function nativeCall(call: NativeCall): ToolCallRequest | undefined {
  const canonical = canonicalCall(call)
  if (canonical.toolName === call.toolName) return undefined
  return request(call, call.toolName, call.input, canonical.category ?? 'other')
}

function canonicalAs(call: NativeCall, { toolName, args }: NonNullable<NativeCall['as']>): ToolCallRequest {
  const kind = kindOfTool(toolName)
  return request(call, toolName, args, kind === undefined ? 'other' : CATEGORIES[kind])
}

function request(call: NativeCall, toolName: string, args: JsonObject, category: ToolCategory): ToolCallRequest {
  const { toolCallId, cwd, parentToolCallId, serverName } = call
  return {
    toolCallId,
    toolName,
    args,
    category,
    ...(cwd === undefined ? {} : { cwd }),
    ...(parentToolCallId === undefined ? {} : { parentToolCallId }),
    ...(serverName === undefined ? {} : { serverName }),
  }
}

function canonicalInput(kind: ToolKind, { input, workdir: stands }: NativeCall): JsonObject {
  switch (kind) {
    case 'shell': {
      // The description is dropped: the model words it differently when it asks again.
      const { description: _description, workdir = stands, ...rest } = input
      return workdir === undefined ? rest : { ...rest, cwd: workdir }
    }
    case 'read':
    case 'write':
    case 'edit': {
      const field = PATH_FIELDS.find((name) => typeof input[name] === 'string')
      if (field === undefined) return input
      const { [field]: path = null, ...rest } = input
      const isMoved = stands !== undefined && typeof path === 'string' && !/^[/~]/.test(path)
      return { path: isMoved ? `${stands}/${path}` : path, ...rest }
    }
    default:
      return input
  }
}
