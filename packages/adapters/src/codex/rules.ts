import type { MCPConfiguration } from '@inspan/protocol/chat'
import type { LaunchRequest } from '../launch/launch-plan.ts'
import { askWarnings, refuseUnkept, ruleName, standingRules } from '../launch/permissions.ts'
import type { RunWarning } from '../launch/run-note.ts'
import { kindOfTool, mcpToolName, type ToolKind } from '../launch/tool-kinds.ts'

export interface CodexRules {
  readonly sandbox: 'read-only' | 'workspace-write' | 'danger-full-access'
  /** Features of Codex to disable. */
  readonly disabled: readonly string[]
  readonly hasWebSearch: boolean
  readonly mcp: MCPConfiguration
  /** Whether calls to MCP servers may run at all. */
  readonly mayCallMcp: boolean
  /** Tools of MCP servers to hide, by server. */
  readonly disabledTools: ReadonlyMap<string, readonly string[]>
  readonly warnings: readonly RunWarning[]
}

const SHELL: readonly string[] = ['shell_tool', 'unified_exec']
const SUBAGENTS: readonly string[] = ['multi_agent', 'multi_agent_v2']
/** Features that bring MCP tools besides the servers that we give. */
const CONNECTORS: readonly string[] = ['apps', 'plugins']

const WHY = 'It runs its tools itself, and reads files only through its shell.'

/**
 * Translates our rules into a sandbox and features. The sandbox confines commands too: if editing is not allowed,
 * nothing can write. Commands that no rule allows run inside it.
 */
export function codexRules(request: LaunchRequest, title: string, usesOwnConfig: boolean): CodexRules {
  const standing = standingRules(request.rules, request.permissions, { isConfined: true })
  const { categories } = standing
  const denied = new Set<ToolKind>()
  const unkept: string[] = []
  const disabledTools = new Map<string, string[]>()
  const deniedServers = new Set<string>()
  if (categories.execute === 'deny') denied.add('shell')
  if (categories.read === 'deny') denied.add('read')
  if (categories.other === 'deny') unkept.push('deny every other tool')
  if (categories.mcp === 'deny' && usesOwnConfig) unkept.push('deny every mcp tool')
  for (const [tool, policy] of standing.tools) {
    if (policy === 'allow') continue
    const mcp = mcpToolName(tool)
    const kind = kindOfTool(tool)
    if (mcp !== undefined && usesOwnConfig && request.mcp[mcp.server] === undefined) unkept.push(`deny ${tool}`)
    else if (mcp?.tool !== undefined)
      disabledTools.set(mcp.server, [...(disabledTools.get(mcp.server) ?? []), mcp.tool])
    else if (mcp !== undefined) deniedServers.add(mcp.server)
    else if (kind !== undefined && kind !== 'skill') denied.add(kind)
    else unkept.push(`deny ${tool}`)
  }
  const seesFiles = !denied.has('shell')
  for (const kind of ['read', 'search', 'list'] as const) {
    if (denied.has(kind) && seesFiles) unkept.push(`deny ${kind} tools`)
  }
  for (const rule of standing.forbidden) {
    const kind = kindOfTool(rule.tool)
    if (kind === undefined || !denied.has(kind)) unkept.push(ruleName(rule))
  }
  const mayEdit = categories.edit === 'allow' && !denied.has('write') && !denied.has('edit')
  return {
    sandbox: !mayEdit ? 'read-only' : categories.execute === 'allow' ? 'danger-full-access' : 'workspace-write',
    disabled: [
      ...(denied.has('shell') ? SHELL : []),
      ...(denied.has('read') ? ['view_image'] : []),
      ...(denied.has('subagent') ? SUBAGENTS : []),
      ...(categories.mcp === 'deny' ? CONNECTORS : []),
    ],
    hasWebSearch: !denied.has('web-search') && !denied.has('web-fetch'),
    mcp: categories.mcp === 'deny' ? {} : without(request.mcp, deniedServers),
    mayCallMcp: categories.mcp === 'allow',
    disabledTools,
    warnings: [...askWarnings(standing, title), ...refuseUnkept(request, title, unkept, WHY)],
  }
}

function without(servers: MCPConfiguration, names: ReadonlySet<string>): MCPConfiguration {
  return Object.fromEntries(Object.entries(servers).filter(([name]) => !names.has(name)))
}
