import { checkTools as checkUsable, type ToolsInput } from '@inspan/agent'
import { InspanError } from '@inspan/protocol'
import { DRIVER_PORT } from '@inspan/protocol/driver'
import {
  aCount,
  aDuration,
  aFlag,
  aFunction,
  aText,
  anObject,
  anything,
  checkFields,
  checkNames,
  checkOptions,
  listOf,
  oneOf,
  words,
  type FieldRule,
  type OptionRules,
} from '@inspan/protocol/internal'
import { checkConsumerTools, checkToolSearch } from '@inspan/tools'
import type { HarnessConfig, HarnessMode, HarnessSubagent } from '../harness-config.ts'
import { BUILTIN_TOOL_IDS } from '../tools/builtin-tools.ts'
import { aList } from './check-given.ts'

const paths = listOf(aText, 'paths')
const toolNames: FieldRule = listOf(words, 'tool names')

/** One rule for every option, so that the compiler reports one that is missing. `anything` is checked elsewhere. */
const CONFIG: OptionRules<HarnessConfig> = {
  id: anything,
  resourceId: anything,
  storage: methods('a store such as `new SqliteStore({ url })`', 'open', 'append', 'readRecords'),
  stateSchema: { wanted: 'a Standard Schema, such as a zod object, or a JSON Schema of an object', accepts: isSchema },
  initialState: anything,
  memory: anything,
  modes: { ...aList, wanted: 'a list of modes such as `[{ id: "build" }]`' },
  agent: anything,
  defaultModeId: anything,
  instructions: anything,
  tools: anything,
  toolSources: aList,
  mcpServers: anObject,
  mcp: anObject,
  consumerTools: anything,
  skills: paths,
  skillSearch: anything,
  rules: paths,
  project: { wanted: '{ folder, trust? }', accepts: (value) => isObject(value) && typeof value['folder'] === 'string' },
  toolSearch: { ...anObject, wanted: '{ alwaysActive? }' },
  workspace: anything,
  browser: anything,
  subagents: aList,
  subagentLimits: { ...anObject, wanted: '{ depth, concurrent }' },
  resolveModel: anything,
  omConfig: anything,
  disableBuiltinTools: aList,
  heartbeatHandlers: anything,
  idGenerator: anything,
  modelAuthChecker: anything,
  modelUseCountProvider: anything,
  modelUseCountTracker: anything,
  customModelCatalogProvider: anything,
  gateways: anything,
  toolCategoryResolver: anything,
  pubsub: anything,
  threadLock: methods('{ acquire, release }', 'acquire', 'release'),
  observability: anything,
  notifications: anything,
  permissions: anything,
  redact: { ...aFunction, wanted: 'a function from text to text' },
  restoreRequestContext: { ...aFunction, wanted: 'a function from what was recorded to a request context' },
  onInterrupted: oneOf('report', 'ask', 'retry'),
  approvalTimeout: aDuration,
  parkAfter: aDuration,
  keepWarm: aDuration,
  handoverTokens: aCount,
  estimateCosts: anything,
  spool: anything,
}

const MODE: OptionRules<HarnessMode> = {
  id: aText,
  name: anything,
  default: anything,
  defaultModelId: anything,
  description: anything,
  instructions: anything,
  transitionsTo: anything,
  metadata: anything,
  tools: anything,
  additionalTools: anything,
  toolSources: aList,
  agent: anything,
  budget: anything,
}

const SUBAGENT: OptionRules<HarnessSubagent> = {
  id: aText,
  name: aText,
  description: aText,
  instructions: aText,
  agent: anything,
  tools: anything,
  allowedHarnessTools: toolNames,
  allowedWorkspaceTools: toolNames,
  defaultModelId: aText,
  maxSteps: aCount,
  stopWhen: anything,
  forked: aFlag,
}

/** Checks the types of the options, for programs that no compiler has checked. */
export function checkShape(config: HarnessConfig): void {
  if (!isObject(config)) throw wrong('The configuration of a harness', 'an object with at least `id` and `modes`')
  if (typeof config.id !== 'string' || config.id === '')
    throw new InspanError('invalid-input', 'A harness needs an `id`.')
  checkOptions('a harness', config, CONFIG, ['modes'])
  const { consumerTools, disableBuiltinTools = [], subagentLimits, subagents = [], toolSearch } = config
  checkParts(config)
  config.modes.forEach((mode, index) => {
    const at = `modes[${index}]`
    checkNested(mode, at, 'a mode such as `{ id: "build" }`', MODE, ['id'])
    checkParts(mode, `${at}.`)
  })
  subagents.forEach((subagent, index) => {
    const at = `subagents[${index}]`
    const required = ['id', 'name', 'description', 'instructions']
    checkNested(subagent, at, '{ id, name, description, instructions }', SUBAGENT, required)
    checkParts(subagent, `${at}.`)
  })
  if (toolSearch !== undefined) checkToolSearch(toolSearch)
  if (consumerTools !== undefined) checkConsumerTools(consumerTools)
  if (subagentLimits !== undefined) {
    checkNames('`subagentLimits`', subagentLimits, ['depth', 'concurrent'])
    checkFields('`subagentLimits`', subagentLimits, { depth: aCount, concurrent: aCount })
  }
  for (const id of disableBuiltinTools) {
    if (BUILTIN_TOOL_IDS.includes(id)) continue
    throw wrong(`"${id}" in \`disableBuiltinTools\``, `one of ${BUILTIN_TOOL_IDS.join(', ')}`)
  }
}

function checkNested<Options extends object>(
  given: Options,
  at: string,
  wanted: string,
  rules: OptionRules<Options>,
  required: readonly string[],
): void {
  if (!isObject(given)) throw wrong(`\`${at}\``, wanted)
  checkNames(`\`${at}\``, given, Object.keys(rules))
  for (const [name, rule] of Object.entries<FieldRule>(rules)) {
    const value = given[name]
    if (value === undefined && !required.includes(name)) continue
    if (!rule.accepts(value)) throw wrong(`\`${at}.${name}\``, rule.wanted)
  }
}

interface Parts {
  readonly agent?: unknown
  readonly tools?: unknown
  readonly additionalTools?: unknown
  readonly toolSources?: readonly unknown[]
}

/** Checks what a harness, a mode and a subagent may all have. */
function checkParts({ additionalTools, agent, tools, toolSources = [] }: Parts, at = ''): void {
  checkAgent(agent, `${at}agent`)
  checkTools(tools, `${at}tools`)
  checkTools(additionalTools, `${at}additionalTools`)
  const aSource = methods('a tool source: `{ id, list, call, close }`', 'list', 'call', 'close')
  toolSources.forEach((source, index) => {
    if (!aSource.accepts(source)) throw wrong(`\`${at}toolSources[${index}]\``, aSource.wanted)
  })
}

/** Our own agents have `tools`, foreign ones have `open`. */
function checkAgent(agent: unknown, at: string): void {
  if (agent === undefined) return
  const expected = 'an agent: `new Agent({ id, model })`, or a foreign one such as `claudeCode()`'
  if (!isObject(agent)) throw wrong(`\`${at}\``, expected)
  const isAgent = typeof agent['tools'] === 'function' || typeof agent['open'] === 'function'
  if (!isAgent || typeof agent['id'] !== 'string' || agent['id'] === '') throw wrong(`\`${at}\``, expected)
  if (typeof agent['tools'] === 'function' || agent['port'] === DRIVER_PORT) return
  throw new InspanError('invalid-input', `Agent "${agent['id']}" was written to another version of the driver port.`, {
    hint: `Its \`port\` has to be ${DRIVER_PORT}: use the packages of one release.`,
  })
}

function checkTools(tools: unknown, at: string): void {
  if (tools === undefined || typeof tools === 'function') return
  if (!isObject(tools)) throw wrong(`\`${at}\``, 'tools by name, or a list of tools')
  for (const [name, tool] of Object.entries(tools)) {
    if (!isObject(tool) || typeof tool['execute'] !== 'function') {
      throw wrong(`\`${at}.${name}\``, 'a tool with `execute`, as `createTool` makes it')
    }
  }
  checkUsable(tools as ToolsInput)
}

function methods(wanted: string, ...names: readonly string[]): FieldRule {
  return { wanted, accepts: (value) => isObject(value) && names.every((name) => typeof value[name] === 'function') }
}

/** Some schemas are functions. */
function isSchema(schema: unknown): boolean {
  if (!isObject(schema) && typeof schema !== 'function') return false
  const standard: unknown = Reflect.get(schema, '~standard')
  if (isObject(standard)) return typeof standard['validate'] === 'function' || isObject(standard['jsonSchema'])
  return Reflect.get(schema, 'type') === 'object' || isObject(Reflect.get(schema, 'properties'))
}

function isObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null
}

function wrong(what: string, expected: string): InspanError {
  return new InspanError('invalid-input', `${what} has to be ${expected}.`)
}
