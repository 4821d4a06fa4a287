import type {
  AgentHooks,
  ChatToolOrigin,
  HarnessAgentConfig,
  HarnessCapabilities,
  ModelConnectivityInfo,
} from '@inspan/protocol/chat'
import type { Capabilities, RunnableTool, ToolSource } from '@inspan/protocol/driver'
import type { JsonValue } from '@inspan/protocol'
import { threadToolSearch, toolsOfSources, type RuntimeAgent } from '@inspan/core/engine'
import { unsupported } from '../errors.ts'
import type { EngineAgentConfig } from './agent-config.ts'
import { loadAgentFiles, type AgentFiles } from './agent-files.ts'
import { consumerTools } from './consumer-tools.ts'

/** Everything an agent is made of. */
export interface EngineSetup {
  readonly agentId: string
  readonly projectRoot: string
  readonly connectivity: ModelConnectivityInfo
  readonly config: HarnessAgentConfig<EngineAgentConfig>
  readonly hooks: AgentHooks | undefined
  /** Where tools come from besides the agent's own. */
  readonly sources: () => readonly ToolSource[]
  /** The MCP server of a tool, and what it declares about the tool. */
  readonly serverToolOf: (toolName: string) => ChatToolOrigin | undefined
  /** Keeps a setting with a thread that is open. */
  readonly keepSetting: (threadId: string, key: string, value: JsonValue) => Promise<void>
  readonly log: (level: 'debug' | 'info' | 'warn' | 'error', message: string, context?: Record<string, unknown>) => void
}

/** What a harness makes of a setup. */
export interface MadeAgent {
  readonly runtimeAgent: RuntimeAgent
  /** Asks the agent's model outside a conversation. Without it, sessions cannot be compacted. */
  readonly ask?: (threadId: string, system: string, prompt: string, signal: AbortSignal) => Promise<string>
}

export type MakeAgent = (setup: EngineSetup) => MadeAgent | Promise<MadeAgent>

/** An agent as the engine drives it, together with what it was made of. */
export interface EngineAgent extends MadeAgent {
  readonly setup: EngineSetup
  readonly capabilities: HarnessCapabilities
  readonly isForeign: boolean
  /** The names of the tools that the caller runs. */
  readonly consumerTools: ReadonlySet<string>
  readonly originOf: (toolName: string) => ChatToolOrigin
}

/** Makes the agent ready, or fails with what the harness cannot do. */
export async function engineAgent(harnessId: string, setup: EngineSetup, make: MakeAgent): Promise<EngineAgent> {
  const { ask, runtimeAgent: made } = await make(setup)
  const driver = await made.driver.describe()
  const isForeign = driver.continuity === 'native'
  const capabilities = capabilitiesOf(driver, isForeign, ask !== undefined)
  checkConfig(harnessId, setup, capabilities)
  const { config, projectRoot } = setup
  const files = await loadAgentFiles(projectRoot, config, (problem) => setup.log('warn', problem))
  const { skills } = files
  const namesSkills = isForeign && capabilities.instructions !== 'none' && config.skillSearch !== true
  const instructions = namesSkills ? withSkills(files) : files.instructions
  const offered = consumerTools(config.tools ?? [])
  const names = new Set(offered.map(({ name }) => name))
  const annotations = new Map(config.tools?.map((tool) => [tool.name, tool.annotations]))
  const { toolSearch } = config
  const warned = new Set<string>()
  /** Tools are listed before every step, and the same problem is worth one line. */
  const warn = (problem: string): void => {
    if (!warned.has(problem)) setup.log('warn', problem)
    warned.add(problem)
  }
  const { tools: native = [], turn = {} } = made
  const runtimeAgent: RuntimeAgent = {
    ...made,
    ...(config.name === undefined ? {} : { name: config.name }),
    tools: async (context): Promise<readonly RunnableTool[]> => {
      const mine = typeof native === 'function' ? await native(context) : native
      const clash = mine.find(({ name }) => names.has(name))
      if (clash !== undefined) throw unsupported(harnessId, `two tools with the name "${clash.name}"`)
      const sources = skills === undefined ? setup.sources() : [skills, ...setup.sources()]
      const own = offered.length === 0 ? mine : [...mine, ...offered]
      const { requestContext, runId, state } = context
      const threadId = state.head.stream
      const keepSetting = (key: string, value: JsonValue): Promise<void> => setup.keepSetting(threadId, key, value)
      const searched = (all: readonly RunnableTool[]): readonly RunnableTool[] =>
        toolSearch === undefined ? all : threadToolSearch(all, toolSearch, state, keepSetting, warn)
      if (sources.length === 0) return searched(own)
      const sourced = await toolsOfSources(
        sources,
        {
          threadId,
          runId,
          agentId: setup.agentId,
          ...(requestContext === undefined ? {} : { requestContext }),
        },
        { taken: own.map(({ name }) => name), report: warn },
      )
      return searched([...own, ...sourced])
    },
    turn: async (context) => ({
      cwd: projectRoot,
      ...(instructions === undefined ? {} : { instructions }),
      ...(typeof turn === 'function' ? await turn(context) : turn),
    }),
  }
  return {
    setup,
    runtimeAgent,
    ...(ask === undefined ? {} : { ask }),
    capabilities,
    isForeign,
    consumerTools: names,
    originOf: (toolName) => {
      const hints = annotations.get(toolName) ?? setup.serverToolOf(toolName)?.annotations
      return hints === undefined ? {} : { annotations: hints }
    },
  }
}

function capabilitiesOf(driver: Capabilities, isForeign: boolean, canAsk: boolean): HarnessCapabilities {
  return {
    approvals: driver.governs,
    batchApprovals: driver.governs !== 'none' && driver.asks !== 'one-by-one',
    goesOnAfterDecline: driver.governs !== 'none' && driver.refusal !== 'may-end-turn',
    consumerTools: !isForeign,
    mcp: isForeign ? driver.mcp : true,
    // A program reads skills through our tools.
    skills: driver.hostTools !== 'none',
    toolSearch: !isForeign,
    instructions: driver.systemPrompt,
    // A program gets files as texts of their content.
    attachments: !driver.images ? 'none' : isForeign ? 'images' : 'all',
    maxSteps: driver.maxSteps,
    usage: driver.usage !== 'none',
    toolResultHook: driver.redaction === 'all',
    steer: driver.steer !== 'none',
    compaction: canAsk,
    limits: driver.limits,
    wire: !isForeign,
    effort: driver.effort,
  }
}

function checkConfig(harnessId: string, { config, hooks }: EngineSetup, can: HarnessCapabilities): void {
  const wanted: readonly [isWanted: boolean, isPossible: boolean, what: string][] = [
    [isFilled(config.tools), can.consumerTools, 'tools that the caller runs (`tools`)'],
    [isFilled(config.mcpServers), can.mcp, 'MCP servers (`mcpServers`)'],
    [isFilled(config.skills), can.skills, 'skills (`skills`)'],
    [isFilled(config.rules), can.instructions !== 'none', 'rules (`rules`)'],
    [config.toolSearch !== undefined, can.toolSearch, 'searching for tools (`toolSearch`)'],
    [config.instructions !== undefined, can.instructions !== 'none', 'instructions (`instructions`)'],
    [hooks?.onToolResult !== undefined, can.toolResultHook, 'changing tool results (`hooks.onToolResult`)'],
  ]
  for (const [isWanted, isPossible, what] of wanted) {
    if (isWanted && !isPossible) throw unsupported(harnessId, what, 'Leave it out, or use another harness.')
  }
}

/** Programs may keep our tools back until they are searched for, so their instructions name the skills as well. */
function withSkills({ instructions, skills }: AgentFiles): string | undefined {
  if (skills === undefined || skills.skills.length === 0) return instructions
  const named = skills.skills.map(({ description, name }) => `- ${name}: ${description}`)
  const listing = ['Skills, which you read with the tool "skill":', ...named].join('\n')
  return instructions === undefined ? listing : `${instructions}\n\n${listing}`
}

function isFilled(value: object | undefined): boolean {
  return value !== undefined && Object.keys(value).length > 0
}
