/** What a tool does, whatever a CLI calls it, so that one rule holds for every agent of a thread. */
export type ToolKind =
  | 'shell'
  | 'read'
  | 'search'
  | 'list'
  | 'write'
  | 'edit'
  | 'web-search'
  | 'web-fetch'
  | 'subagent'
  | 'skill'

const NAMES: Readonly<Record<ToolKind, readonly string[]>> = {
  shell: ['execute_command', 'Bash', 'bash', 'shell', 'exec_command', 'run_commands', 'PowerShell'],
  read: ['read_file', 'Read', 'read', 'read_files'],
  search: ['grep', 'Grep', 'search_codebase'],
  list: ['list_files', 'Glob', 'glob', 'LS', 'ls', 'find', 'tree'],
  write: ['write_file', 'Write', 'write'],
  edit: ['edit_file', 'Edit', 'edit', 'MultiEdit', 'NotebookEdit', 'apply_patch', 'editor'],
  'web-search': ['web_search', 'WebSearch'],
  'web-fetch': ['web_fetch', 'WebFetch', 'webfetch', 'fetch_web_content'],
  subagent: ['subagent', 'Agent', 'Task', 'task', 'spawn_agent', 'delegate'],
  skill: ['skill', 'Skill', 'skills', 'load_skill'],
}

const KINDS: ReadonlyMap<string, ToolKind> = new Map(
  Object.entries(NAMES).flatMap(([kind, names]) => names.map((name) => [name, kind as ToolKind] as const)),
)

/** Returns `undefined` for tools that only one CLI has. */
export function kindOfTool(name: string): ToolKind | undefined {
  return KINDS.get(name)
}

export interface McpToolName {
  readonly server: string
  /** Absent for all tools of the server. */
  readonly tool?: string
}

/** Parses `mcp__<server>__<tool>` or `mcp__<server>`. */
export function mcpToolName(name: string): McpToolName | undefined {
  if (!name.startsWith('mcp__')) return undefined
  const rest = name.slice('mcp__'.length)
  const end = rest.indexOf('__')
  return end === -1 ? { server: rest } : { server: rest.slice(0, end), tool: rest.slice(end + 2) }
}
