import type { JsonValue } from '@inspan/protocol'
import type { ToolCallRequest } from '@inspan/protocol/driver'
import { quote } from '@inspan/shell/read/command'
import type { PathTool, ShellTool, ToolSubjects } from './policy-types.ts'
import { has } from './rule-book.ts'

/** What the patterns for a call are matched against. */
export type CallSubject =
  /** `cwd`: the folder in which the call asks to run. */
  | { readonly kind: 'command'; readonly text: string; readonly cwd?: string }
  | { readonly kind: 'paths'; readonly paths: readonly string[]; readonly isTree: boolean }
  /** The argument that should contain the command or path does not. */
  | { readonly kind: 'unreadable'; readonly reason: string }
  | { readonly kind: 'none' }

export function subjectOf(call: ToolCallRequest, { pathTools, shellTools }: ToolSubjects): CallSubject {
  const shell = has(shellTools, call.toolName) ? shellTools?.[call.toolName] : undefined
  if (shell !== undefined) return commandOf(call, shell)
  const path = has(pathTools, call.toolName) ? pathTools?.[call.toolName] : undefined
  return path === undefined ? { kind: 'none' } : pathsOf(call, path)
}

function argument({ args }: ToolCallRequest, name: string): JsonValue | undefined {
  return Object.hasOwn(args, name) ? args[name] : undefined
}

function isTexts(value: JsonValue | undefined): value is readonly string[] {
  return Array.isArray(value) && value.every((item: JsonValue) => typeof item === 'string')
}

function commandOf(call: ToolCallRequest, tool: ShellTool): CallSubject {
  const name = typeof tool === 'string' ? tool : tool.command
  const folder = typeof tool === 'string' || tool.cwd === undefined ? undefined : argument(call, tool.cwd)
  const value = argument(call, name)
  const text = isTexts(value) ? quote(value) : value
  if (typeof text !== 'string') return { kind: 'unreadable', reason: `its argument "${name}" is no command` }
  if (folder === undefined || folder === null) return { kind: 'command', text }
  if (typeof folder !== 'string') return { kind: 'unreadable', reason: 'the folder it would run in is no path' }
  return { kind: 'command', text, cwd: folder }
}

/** Returns the paths of a call. Without a path, a tool works on its current folder. */
function pathsOf(call: ToolCallRequest, tool: PathTool): CallSubject {
  const names = typeof tool === 'string' ? [tool] : tool.paths
  const paths: string[] = []
  for (const name of names) {
    const value = argument(call, name)
    if (value === undefined || value === null) continue
    if (typeof value === 'string') paths.push(value)
    else if (isTexts(value)) paths.push(...value)
    else return { kind: 'unreadable', reason: `its argument "${name}" is no path` }
  }
  const isTree = typeof tool !== 'string' && tool.reach === 'tree'
  return { kind: 'paths', paths: paths.length === 0 ? ['.'] : paths, isTree }
}
