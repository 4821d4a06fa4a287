import type { PermissionRules, ToolCategory } from '@inspan/protocol'
import type { MCPConfiguration } from '@inspan/protocol/chat'
import type { LaunchRequest } from './launch-plan.ts'
import { askWarnings, refuseUnkept, ruleName, standingRules, type RulesInForce } from './permissions.ts'
import type { RunWarning } from './run-note.ts'
import { kindOfTool, mcpToolName, type ToolKind } from './tool-kinds.ts'

type OwnCategory = Exclude<ToolCategory, 'mcp'>

/** The tools of a CLI that lets us choose which of them it offers. */
export interface NativeTools {
  /** Tools by what they can do. */
  readonly categories: Readonly<Record<OwnCategory, readonly string[]>>
  /** Tools that act only through other tools, or on nothing. Offered unless `other` is denied. */
  readonly harmless: readonly string[]
  readonly kinds: Readonly<Record<ToolKind, readonly string[]>>
}

export interface McpTool {
  readonly server: string
  readonly tool: string
}

/** The tools that a CLI offers under our rules. */
export interface OfferedTools {
  readonly offered: ReadonlySet<string>
  /** Whether tools that we do not know by name may be offered: those of plugins and of the CLI's own MCP servers. */
  readonly hasStrangers: boolean
  /** Denied names that are not tools of the CLI: a plugin or server may have added such a tool. */
  readonly deniedStrangers: readonly string[]
  readonly mcp: MCPConfiguration
  readonly deniedServers: ReadonlySet<string>
  readonly deniedMcpTools: readonly McpTool[]
  readonly warnings: readonly RunWarning[]
}

type Limits = Pick<LaunchRequest, 'rules' | 'permissions' | 'allowUngoverned' | 'mcp'>

export interface OfferOptions {
  readonly title: string
  /** Why the CLI cannot keep more rules; part of the error message. */
  readonly why: string
  /** Whether the CLI can hide single tools of an MCP server. */
  readonly hidesMcpTools: boolean
}

const OWN_CATEGORIES: readonly OwnCategory[] = ['read', 'edit', 'execute', 'other']
/** Kinds of tools whose work a shell can do as well. */
const BY_SHELL: ReadonlySet<ToolKind> = new Set(['read', 'search', 'list', 'write', 'edit'])

/**
 * Returns the tools to offer. Print mode cannot ask, so what is not granted is not offered. Throws `policy-unsupported`
 * for rules that cannot be kept by hiding tools.
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
  // A pattern that denies is kept only if the whole tool is hidden: the CLI's own patterns mean something else.
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

/** Warns about tools that a rule allows by name and the CLI does not have. */
function missingWarnings({ tools: rules }: RulesInForce, tools: NativeTools, title: string): readonly RunWarning[] {
  const missing = [...rules].flatMap(([tool, policy]) => {
    const kind = kindOfTool(tool)
    return policy === 'allow' && kind !== undefined && tools.kinds[kind].length === 0 ? [tool] : []
  })
  return missing.length === 0 ? [] : [noSuchTool(title, missing)]
}

/** The same for CLIs that have every kind of tool except subagents. */
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
