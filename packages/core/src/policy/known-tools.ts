import type { ToolCategory } from '@inspan/protocol'
import type { PathTool, ShellTool, ToolSubjects } from './policy-types.ts'

/** The tool names that calls of all agents are mapped to. */
const SHELL_TOOLS: { readonly [toolName: string]: ShellTool } = { execute_command: { command: 'command', cwd: 'cwd' } }

const PATH_TOOLS: { readonly [toolName: string]: PathTool } = {
  read_file: 'path',
  write_file: 'path',
  edit_file: 'path',
  list_files: 'path',
  grep: { paths: ['path'], reach: 'tree' },
}

const CATEGORIES: ReadonlyMap<string, ToolCategory> = new Map<string, ToolCategory>([
  ['execute_command', 'execute'],
  ['read_file', 'read'],
  ['list_files', 'read'],
  ['grep', 'read'],
  ['write_file', 'edit'],
  ['edit_file', 'edit'],
])

/** Returns the given facts about tools, with those of our own tools where none were given. */
export function withKnownTools({ pathTools, shellTools, toolCategory }: ToolSubjects): Required<ToolSubjects> {
  return {
    shellTools: shellTools ?? SHELL_TOOLS,
    pathTools: pathTools ?? PATH_TOOLS,
    toolCategory: (toolName) => toolCategory?.(toolName) ?? CATEGORIES.get(toolName) ?? null,
  }
}
