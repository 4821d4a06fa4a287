import type { MCPConfiguration, PermissionRules, ToolCategory } from '@evener/protocol'
import type { LaunchRequest } from './launch-plan.ts'
import { askWarnings, refuseUnkept, ruleName, standingRules, type StandingRules } from './permissions.ts'
import type { RunWarning } from './run-note.ts'
import { kindOfTool, mcpToolName, type ToolKind } from './tool-kinds.ts'

type OwnCategory = Exclude<ToolCategory, 'mcp'>

/** The tools of a program that can be told which of them it has. */
export interface NativeTools {
  /** By what they can do. */
  readonly categories: Readonly<Record<OwnCategory, readonly string[]>>
  /** They act through other tools only, or on nothing: there unless `other` is denied. */
  readonly harmless: readonly string[]
  readonly kinds: Readonly<Record<ToolKind, readonly string[]>>
}

export interface McpTool {
  readonly server: string
  readonly tool: string
}

/** What a program is left with under our rules. */
export interface OfferedTools {
  readonly offered: ReadonlySet<string>
  /** Whether tools that are not known by name may be there: those of plugins, and of servers in its own settings. */
  readonly hasStrangers: boolean
  /** Denied by names that are none of its tools: somebody else may have brought such a tool. */
  readonly deniedStrangers: readonly string[]
  readonly mcp: MCPConfiguration
  readonly deniedServers: ReadonlySet<string>
  readonly deniedMcpTools: readonly McpTool[]
  readonly warnings: readonly RunWarning[]
}

type Limits = Pick<LaunchRequest, 'rules' | 'permissions' | 'allowUngoverned' | 'mcp'>

export interface OfferOptions {
  readonly title: string
  /** Why it cannot do better, for the refusal. */
  readonly why: string
  /** It can take single tools away from an MCP server. */
  readonly hidesMcpTools: boolean
}

const OWN_CATEGORIES: readonly OwnCategory[] = ['read', 'edit', 'execute', 'other']
/** What a shell can do as well. */
const BY_SHELL: ReadonlySet<ToolKind> = new Set(['read', 'search', 'list', 'write', 'edit'])

/**
 * Nobody can be asked, so what is not granted is not there. Throws `policy-unsupported` for rules that taking tools away
 * does not keep.
 */
export function offeredTools(request: Limits, tools: NativeTools, options: OfferOptions): OfferedTools {
  const { title, why, hidesMcpTools } = options
  const standing = standingRules(request.rules, request.permissions)
  const { categories } = standing
  const offered = new Set<string>(categories.other === 'deny' ? [] : tools.harmless)
  for (const category of OWN_CATEGORIES) {
    if (categories[category] === 'allow') for (const name of tools.categories[category]) offered.add(name)
  }
  for (const [tool, policy] of standing.tools) {
    if (policy === 'allow') for (const name of nativeNames(tools, tool)) offered.add(name)
  }
  const unkept: string[] = []
  const deniedStrangers: string[] = []
  const deniedServers = new Set<string>()
  const deniedMcpTools: McpTool[] = []
  for (const category of OWN_CATEGORIES) {
    if (categories[category] === 'deny') for (const name of tools.categories[category]) offered.delete(name)
  }
  for (const [tool, policy] of standing.tools) {
    if (policy === 'allow') continue
    const mcp = mcpToolName(tool)
    if (mcp?.tool !== undefined) deniedMcpTools.push({ server: mcp.server, tool: mcp.tool })
    else if (mcp !== undefined) deniedServers.add(mcp.server)
    else if (isKnown(tools, tool)) for (const name of nativeNames(tools, tool)) offered.delete(name)
    else deniedStrangers.push(tool)
  }
  const hasShell = tools.kinds.shell.some((name) => offered.has(name))
  for (const [tool, policy] of standing.tools) {
    const kind = kindOfTool(tool)
    if (policy === 'allow' || kind === undefined || !hasShell || !BY_SHELL.has(kind)) continue
    if (tools.kinds[kind].length === 0) unkept.push(`deny ${tool}`)
  }
  const mcp = Object.fromEntries(
    Object.entries(categories.mcp === 'allow' ? request.mcp : {}).filter(
      ([name, server]) => server.enabled !== false && !deniedServers.has(name),
    ),
  )
  if (!hidesMcpTools) {
    for (const { server, tool } of deniedMcpTools) if (server in mcp) unkept.push(`deny mcp__${server}__${tool}`)
  }
  // A pattern that forbids is kept only where the whole tool is gone: the program's own patterns mean something else.
  for (const rule of standing.forbidden) {
    if (!isGone(rule.tool, tools, offered, mcp)) unkept.push(ruleName(rule))
  }
  return {
    offered,
    hasStrangers: categories.other === 'allow' && categories.mcp === 'allow',
    deniedStrangers,
    mcp,
    deniedServers,
    deniedMcpTools,
    warnings: [
      ...askWarnings(standing, title),
      ...missingWarnings(standing, tools, title),
      ...refuseUnkept(request, title, unkept, why),
    ],
  }
}

/** Says which tools are allowed by name and not there. */
function missingWarnings({ tools: rules }: StandingRules, tools: NativeTools, title: string): readonly RunWarning[] {
  const missing = [...rules].flatMap(([tool, policy]) => {
    const kind = kindOfTool(tool)
    return policy === 'allow' && kind !== undefined && tools.kinds[kind].length === 0 ? [tool] : []
  })
  return missing.length === 0 ? [] : [noSuchTool(title, missing)]
}

/** The same for programs that have everything else. */
export function noSubagents({ tools }: PermissionRules, title: string): readonly RunWarning[] {
  const missing = Object.keys(tools).filter((tool) => tools[tool] === 'allow' && kindOfTool(tool) === 'subagent')
  return missing.length === 0 ? [] : [noSuchTool(title, missing)]
}

function noSuchTool(title: string, tools: readonly string[]): RunWarning {
  return { message: `${title} has no such tool: ${tools.join(', ')}.`, code: 'no-tool' }
}

function nativeNames(tools: NativeTools, tool: string): readonly string[] {
  const kind = kindOfTool(tool)
  return kind === undefined ? (isNative(tools, tool) ? [tool] : []) : tools.kinds[kind]
}

function isKnown(tools: NativeTools, tool: string): boolean {
  return kindOfTool(tool) !== undefined || isNative(tools, tool)
}

function isNative(tools: NativeTools, tool: string): boolean {
  return tools.harmless.includes(tool) || OWN_CATEGORIES.some((category) => tools.categories[category].includes(tool))
}

function isGone(tool: string, tools: NativeTools, offered: ReadonlySet<string>, mcp: MCPConfiguration): boolean {
  const server = mcpToolName(tool)?.server
  if (server !== undefined) return !(server in mcp)
  const names = nativeNames(tools, tool)
  return isKnown(tools, tool) && names.every((name) => !offered.has(name))
}
