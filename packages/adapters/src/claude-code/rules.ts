import type { ToolCategory } from '@inspan/protocol'
import type { MCPConfiguration } from '@inspan/protocol/chat'
import type { LaunchRequest } from '../launch/launch-plan.ts'
import { askWarnings, refuseUnkept, ruleName, standingRules } from '../launch/permissions.ts'
import type { RunWarning } from '../launch/run-note.ts'
import { kindOfTool, type ToolKind } from '../launch/tool-kinds.ts'

/** The CLI's tools by what they can do. Tools in no list are `other`. */
const TOOLS: Readonly<Record<Exclude<ToolCategory, 'mcp' | 'other'>, readonly string[]>> = {
  read: ['Read', 'Glob', 'Grep'],
  edit: ['Edit', 'Write', 'NotebookEdit'],
  execute: ['Bash', 'PowerShell', 'Monitor', 'Workflow'],
}
const OTHER: readonly string[] = ['WebFetch', 'WebSearch']
/** Tools that act only through other tools, which have rules of their own. */
const HARMLESS: readonly string[] = ['Agent', 'Skill', 'ToolSearch']
const WHY = 'It runs its tools itself and shows them afterwards.'

const BY_KIND: Readonly<Record<ToolKind, readonly string[]>> = {
  shell: TOOLS.execute,
  read: ['Read'],
  search: ['Grep'],
  list: ['Glob'],
  write: ['Write'],
  edit: ['Edit', 'NotebookEdit'],
  'web-search': ['WebSearch'],
  'web-fetch': ['WebFetch'],
  subagent: ['Agent'],
  skill: ['Skill'],
}

export interface ClaudeRules {
  /** `acceptEdits` allows changing files in its directory; `dontAsk` refuses what is not allowed. */
  readonly mode: 'acceptEdits' | 'dontAsk'
  readonly allowed: readonly string[]
  readonly denied: readonly string[]
  /** The only tools to offer. Absent: all. */
  readonly only?: readonly string[]
  readonly mcp: MCPConfiguration
  readonly warnings: readonly RunWarning[]
}

/** Translates our rules into the CLI's. A deny rule of the CLI beats everything, in subagents too. */
export function claudeRules(request: LaunchRequest, title: string): ClaudeRules {
  const standing = standingRules(request.rules, request.permissions)
  const { categories, tools } = standing
  const denied = new Set<string>()
  const allowed = new Set<string>(HARMLESS)
  for (const category of ['read', 'edit', 'execute'] as const) {
    if (categories[category] === 'allow') for (const name of TOOLS[category]) allowed.add(name)
    if (categories[category] === 'deny') for (const name of TOOLS[category]) denied.add(name)
  }
  if (categories.other === 'allow') for (const name of OTHER) allowed.add(name)
  for (const [tool, policy] of tools)
    for (const name of nativeNames(tool)) (policy === 'allow' ? allowed : denied).add(name)
  const mcp = categories.mcp === 'deny' ? {} : request.mcp
  if (categories.mcp === 'allow') for (const server of Object.keys(mcp)) allowed.add(`mcp__${server}`)
  // A pattern that denies is kept only if the whole tool is denied: the CLI's own patterns mean something else.
  const unkept = standing.forbidden.filter(({ tool }) => !nativeNames(tool).every((name) => denied.has(name)))
  const mayEdit = categories.edit === 'allow'
  // `acceptEdits` allows edits within the directory; naming the tools would allow them everywhere.
  if (mayEdit && categories.execute !== 'allow') for (const name of TOOLS.edit) allowed.delete(name)
  return {
    mode: mayEdit ? 'acceptEdits' : 'dontAsk',
    allowed: [...allowed].filter((name) => !denied.has(name)),
    denied: [...denied],
    ...(categories.other === 'deny' ? { only: onlyNamed(denied) } : {}),
    mcp,
    warnings: [...askWarnings(standing, title), ...refuseUnkept(request, title, unkept.map(ruleName), WHY)],
  }
}

function nativeNames(tool: string): readonly string[] {
  const kind = kindOfTool(tool)
  return kind === undefined ? [tool] : BY_KIND[kind]
}

/** If `other` is denied, only the tools of the known categories are offered. */
function onlyNamed(denied: ReadonlySet<string>): readonly string[] {
  return [...TOOLS.read, ...TOOLS.edit, ...TOOLS.execute].filter((name) => !denied.has(name))
}
