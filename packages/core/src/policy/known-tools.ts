import type { ToolCategory } from '@inspan/protocol'
import type { PathTool, ShellTool, ToolSubjects } from './policy-types.ts'

/** The tool names that calls of all agents are mapped to. */
const SHELL_TOOLS: Readonly<Record<string, ShellTool>> = { execute_command: { command: 'command', cwd: 'cwd' } }

const PATH_TOOLS: Readonly<Record<string, PathTool>> = {
  read_file: 'path',
  write_file: 'path',
  edit_file: 'path',
  list_files: 'path',
  delete: { paths: ['path'], reach: 'tree' },
  file_stat: 'path',
  mkdir: 'path',
  grep: { paths: ['path'], reach: 'tree' },
}

const CATEGORIES: ReadonlyMap<string, ToolCategory> = new Map<string, ToolCategory>([
  ['execute_command', 'execute'],
  ['read_file', 'read'],
  ['list_files', 'read'],
  ['grep', 'read'],
  ['write_file', 'edit'],
  ['edit_file', 'edit'],
  ['file_stat', 'read'],
  ['get_process_output', 'read'],
  ['delete', 'edit'],
  ['mkdir', 'edit'],
  ['kill_process', 'execute'],
])

/** Returns the given facts about tools, with those of our own tools where none were given. */
export function withKnownTools({ pathTools, shellTools, toolCategory }: ToolSubjects): Required<ToolSubjects> {
  return {
    shellTools: shellTools ?? SHELL_TOOLS,
    pathTools: pathTools ?? PATH_TOOLS,
    toolCategory: (toolName) => toolCategory?.(toolName) ?? CATEGORIES.get(toolName) ?? null,
  }
}

/** Returns what rules know about our tools, with those that go by another name. */
export function withRenamedTools(names: Iterable<readonly [own: string, exposed: string]>): ToolSubjects {
  const shellTools: Record<string, ShellTool> = { ...SHELL_TOOLS }
  const pathTools: Record<string, PathTool> = { ...PATH_TOOLS }
  for (const [own, exposed] of names) {
    const [shell, path] = [SHELL_TOOLS[own], PATH_TOOLS[own]]
    if (shell !== undefined) shellTools[exposed] = shell
    if (path !== undefined) pathTools[exposed] = path
  }
  return { shellTools, pathTools }
}
