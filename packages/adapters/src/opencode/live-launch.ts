import { join } from 'node:path'
import type { JsonObject, ToolCategory } from '@inspan/protocol'
import { asArray, asObject } from '../kit/fields.ts'
import type { LaunchRequest } from '../launch/launch-plan.ts'
import { noSubagents, type NativeTools } from '../launch/offered-tools.ts'
import { kindOfTool, mcpToolName } from '../launch/tool-kinds.ts'
import type { LivePlan } from '../live/live-cli-spec.ts'
import type { Flavour } from './flavour.ts'
import type { OpencodeLaunchOptions } from './launch.ts'

export type LiveFlavour = Pick<Flavour, 'profile' | 'prefix' | 'tools' | 'env'>

/** The name of the OpenCode agent: one of our own, so that no settings but ours apply to it. */
export const OPENCODE_LIVE_AGENT = 'inspan'

/**
 * Asks about everything. Of several matching entries the last one counts. Leaving the directory is part of the call
 * that is asked about. Subagents are denied: their questions reach nobody, and they would wait forever.
 */
const ASK_ALL: JsonObject = {
  '*': 'ask',
  external_directory: 'allow',
  task: 'deny',
  question: 'deny',
  plan_enter: 'deny',
  plan_exit: 'deny',
  doom_loop: 'deny',
}

/** Returns how to start `opencode acp`. It too denies what our rules deny, which hides such tools from its model. */
export function launchOpencodeLive(
  request: LaunchRequest,
  { profile, prefix, tools, env }: LiveFlavour,
  { config = {}, plugins = false, args = [] }: OpencodeLaunchOptions = {},
): LivePlan {
  const { instructions, maxSteps, rules, dir } = request
  const file = join(dir, 'instructions.md')
  const settings = {
    ...config,
    autoupdate: false,
    share: 'disabled',
    ...(instructions === undefined ? {} : { instructions: [...(asArray(config['instructions']) ?? []), file] }),
    agent: {
      ...asObject(config['agent']),
      [OPENCODE_LIVE_AGENT]: {
        mode: 'primary',
        permission: { ...ASK_ALL, ...deniedTools(request, tools) },
        ...(maxSteps === undefined ? {} : { steps: maxSteps }),
      },
    },
    default_agent: OPENCODE_LIVE_AGENT,
  } satisfies JsonObject
  return {
    args: ['acp', ...(plugins ? [] : ['--pure']), ...args],
    env: {
      ...env,
      [`${prefix}_DISABLE_AUTOUPDATE`]: '1',
      [`${prefix}_PERMISSION`]: undefined,
      [`${prefix}_CONFIG_CONTENT`]: JSON.stringify(settings),
    },
    files: instructions === undefined ? [] : [{ name: 'instructions.md', content: instructions }],
    warnings: noSubagents(rules, profile.title),
  }
}

function deniedTools({ mcp, rules }: LaunchRequest, native: NativeTools): JsonObject {
  const { categories, tools } = rules
  const inCategories = Object.entries(native.categories).flatMap(([category, names]) =>
    categories[category as ToolCategory] === 'deny' ? names : [],
  )
  const byName = Object.entries(tools).flatMap(([tool, policy]) => (policy === 'deny' ? nativeNames(tool, native) : []))
  const servers = categories.mcp === 'deny' ? Object.keys(mcp).map((server) => `${plain(server)}_*`) : []
  return Object.fromEntries([...inCategories, ...servers, ...byName].map((name) => [name, 'deny']))
}

function nativeNames(tool: string, native: NativeTools): readonly string[] {
  const mcp = mcpToolName(tool)
  if (mcp !== undefined) return [`${plain(mcp.server)}_${mcp.tool === undefined ? '*' : plain(mcp.tool)}`]
  const kind = kindOfTool(tool)
  return kind === undefined ? [tool] : native.kinds[kind]
}

/** Returns a name as OpenCode writes it in the tools of MCP servers. */
function plain(name: string): string {
  return name.replaceAll(/[^\w-]/g, '_')
}
