import type { JsonObject } from '@inspan/protocol'
import type { NativeTools, OfferedTools } from '../launch/offered-tools.ts'

/** OpenCode's own subagents. Those in the user's settings may have other permissions. */
const OWN_SUBAGENTS: readonly string[] = ['general', 'explore']
/** Nobody can answer these, and repeating the same call is of no use. */
const NEVER: JsonObject = { question: 'deny', plan_enter: 'deny', plan_exit: 'deny', doom_loop: 'deny' }
/** Without the files that OpenCode does not read without asking. */
const READ_WITHOUT_SECRETS: JsonObject = { '*': 'allow', '*.env': 'deny', '*.env.*': 'deny', '*.env.example': 'allow' }

export interface AgentPermissions {
  readonly main: JsonObject
  /** By the subagent's name. */
  readonly subagents: Readonly<Record<string, JsonObject>>
}

/**
 * Returns the `permission` of each agent. It overrides all other settings there, and of several matching entries the
 * last one counts. Nothing is left to be asked: a question that nobody answers ends the run.
 */
export function agentPermissions(
  tools: OfferedTools,
  known: NativeTools,
  readable: readonly string[],
): AgentPermissions {
  const main = permission(tools, known, readable)
  return {
    main,
    subagents: {
      general: { ...main, task: 'deny' },
      // This subagent only looks around: it must not edit, whatever the others may do.
      explore: { ...main, task: 'deny', todowrite: 'deny', edit: 'deny' },
    },
  }
}

function permission(tools: OfferedTools, known: NativeTools, readable: readonly string[]): JsonObject {
  const { offered, hasStrangers, deniedStrangers, mcp, deniedServers, deniedMcpTools } = tools
  const isUnconfined = offered.has('bash')
  const rules: Record<string, JsonObject | string> = { '*': hasStrangers ? 'allow' : 'deny' }
  for (const name of [...Object.values(known.categories).flat(), ...known.harmless]) {
    rules[name] = offered.has(name) ? 'allow' : 'deny'
  }
  if (offered.has('read') && !isUnconfined) rules['read'] = READ_WITHOUT_SECRETS
  const isLimited = deniedStrangers.length > 0 || Object.values(rules).includes('deny')
  if (offered.has('task') && isLimited) rules['task'] = { '*': 'deny', ...allowAll(OWN_SUBAGENTS) }
  rules['external_directory'] = isUnconfined ? 'allow' : { '*': 'deny', ...allowAll(readable) }
  for (const server of Object.keys(mcp)) rules[`${mcpName(server)}_*`] = 'allow'
  for (const server of deniedServers) rules[`${mcpName(server)}_*`] = 'deny'
  for (const { server, tool } of deniedMcpTools) rules[`${mcpName(server)}_${mcpName(tool)}`] = 'deny'
  for (const name of deniedStrangers) rules[name] = 'deny'
  return { ...rules, ...NEVER }
}

function allowAll(names: readonly string[]): JsonObject {
  return Object.fromEntries(names.map((name) => [name, 'allow']))
}

/** Returns a name as OpenCode writes it in the tools of MCP servers. */
function mcpName(name: string): string {
  return name.replaceAll(/[^\w-]/g, '_')
}
