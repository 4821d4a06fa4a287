import { InspanError } from '@inspan/protocol'
import type { RunnableTool } from '@inspan/protocol/driver'
import { rank } from './rank.ts'

/** All tools of a server, one tool of a server, or a tool of any source, by its own name. */
export type AlwaysActive =
  | { readonly server: string; readonly tool?: string }
  | { readonly server?: undefined; readonly tool: string }

export interface ToolSearchOptions {
  /** The tools that are offered at once. All others have to be searched for. */
  readonly alwaysActive?: readonly AlwaysActive[]
  /** The maximum number of tools that a search loads. Default: 10. */
  readonly limit?: number
}

/** The tool that finds the others. */
export const SEARCH_TOOLS = 'search_tools'

export interface LoadedTools {
  /** Names of tools that were found before. */
  readonly names: ReadonlySet<string>
  /** Offers tools from the next step on, also after a restart. */
  readonly load: (names: readonly string[]) => Promise<void>
}

/** Throws if an entry has another shape. */
export function checkToolSearch({ alwaysActive = [] }: ToolSearchOptions): void {
  for (const entry of alwaysActive) {
    const given: { readonly server?: unknown; readonly tool?: unknown } = entry
    const isText = [given.server, given.tool].every(
      (name) => name === undefined || (typeof name === 'string' && name !== ''),
    )
    if (!isText || (given.server === undefined && given.tool === undefined)) {
      throw new InspanError(
        'invalid-input',
        'An entry of `toolSearch.alwaysActive` is none of { server }, { server, tool }, { tool }.',
      )
    }
  }
}

/** Returns a sentence for every entry of `alwaysActive` that names no tool: maybe its server is not connected yet. */
export function unmatchedEntries(
  tools: readonly RunnableTool[],
  { alwaysActive = [] }: ToolSearchOptions,
): readonly string[] {
  return alwaysActive
    .filter((entry) => !tools.some((tool) => isNamed(tool, entry)))
    .map(({ server, tool }) => {
      const what = tool === undefined ? 'no tool' : `no tool "${tool}"`
      return `\`toolSearch.alwaysActive\`: there is ${what}${server === undefined ? '' : ` of server "${server}"`}.`
    })
}

/** Returns what the model is offered: a search, what is always active, and what it has found before. */
export function searchableTools(
  tools: readonly RunnableTool[],
  options: ToolSearchOptions,
  loaded: LoadedTools,
): RunnableTool[] {
  const { alwaysActive = [], limit } = options
  const isOffered = (tool: RunnableTool): boolean =>
    loaded.names.has(tool.name) || alwaysActive.some((entry) => isNamed(tool, entry))
  const hidden = tools.filter((tool) => !isOffered(tool))
  const offered = tools.filter(isOffered)
  if (hidden.length === 0 && loaded.names.size === 0) return offered
  return [searchTool(tools, loaded, limit), ...offered]
}

function searchTool(
  tools: readonly RunnableTool[],
  { load, names }: LoadedTools,
  limit: number | undefined,
): RunnableTool {
  return {
    name: SEARCH_TOOLS,
    description:
      'Finds tools by what they do and makes them available. Most tools are not listed here: search before you say that ' +
      'something cannot be done.',
    inputSchema: {
      type: 'object',
      properties: { query: { type: 'string', description: 'What the tool should do, in a few words.' } },
      required: ['query'],
      additionalProperties: false,
    },
    category: 'read',
    isIdempotent: true,
    execute: async ({ query }) => {
      const found = rank(
        textOf(query),
        tools,
        (tool) => [tool.name, tool.serverName ?? '', tool.description ?? ''],
        limit,
      )
      if (found.length === 0) return { result: 'No tool fits. Try other words.' }
      const fresh = found.map(({ name }) => name).filter((name) => !names.has(name))
      if (fresh.length > 0) await load(fresh)
      const lines = found.map(({ description = '', name }) => `${name}: ${description.split('\n', 1)[0] ?? ''}`)
      return { result: `You can call these from now on:\n${lines.join('\n')}` }
    },
  }
}

function textOf(value: unknown): string {
  return typeof value === 'string' ? value : ''
}

/** A tool of an MCP server is meant by the name its server gives it: the one that models use may have more to it. */
function isNamed({ name, serverName, serverToolName }: RunnableTool, { server, tool }: AlwaysActive): boolean {
  if (server !== undefined && serverName !== server) return false
  if (tool === undefined || name === tool) return true
  return serverName !== undefined && (serverToolName ?? name.slice(serverName.length + 1)) === tool
}
