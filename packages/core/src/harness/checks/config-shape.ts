import { checkTools as checkUsable, type ToolsInput } from '@inspan/agent'
import { InspanError } from '@inspan/protocol'
import { DRIVER_PORT } from '@inspan/protocol/driver'
import { aCount, aDuration, aFlag, aText, checkFields, checkNames, type FieldRules } from '@inspan/protocol/internal'
import { checkConsumerTools, checkToolSearch } from '@inspan/tools'
import type { HarnessConfig } from '../harness-config.ts'
import { BUILTIN_TOOL_IDS } from '../tools/builtin-tools.ts'
import { CONFIG_NAMES, MODE_NAMES, SUBAGENT_NAMES } from './config-names.ts'

const LIMITS: FieldRules<HarnessConfig> = {
  approvalTimeout: aDuration,
  parkAfter: aDuration,
  keepWarm: aDuration,
  handoverTokens: aCount,
}

/** Checks the types of the options, for programs that no compiler has checked. */
export function checkShape(config: HarnessConfig): void {
  if (!isObject(config)) throw wrong('The configuration of a harness', 'an object with at least `id` and `modes`')
  checkNames('a harness', config, CONFIG_NAMES)
  if (typeof config.id !== 'string' || config.id === '')
    throw new InspanError('invalid-input', 'A harness needs an `id`.')
  if (!Array.isArray(config.modes)) throw wrong('`modes`', 'a list of modes such as `[{ id: "build" }]`')
  config.modes.forEach((mode, index) => checkMode(mode, `modes[${index}]`))
  checkAgent(config.agent, 'agent')
  checkTools(config.tools, 'tools')
  checkSources(config.toolSources, 'toolSources')
  for (const at of ['mcpServers', 'mcp'] as const) {
    if (config[at] !== undefined && !isObject(config[at])) throw wrong(`\`${at}\``, 'an object')
  }
  checkFileSources(config)
  checkMethods(config.storage, 'storage', 'a store such as `new SqliteStore({ url })`', [
    'open',
    'append',
    'readRecords',
  ])
  checkMethods(config.threadLock, 'threadLock', '{ acquire, release }', ['acquire', 'release'])
  checkFields('a harness', config, LIMITS)
  checkLimits(config.subagentLimits)
  const { disableBuiltinTools, onInterrupted, redact, restoreRequestContext, stateSchema, subagents } = config
  if (onInterrupted !== undefined && !['report', 'ask', 'retry'].includes(onInterrupted))
    throw wrong('`onInterrupted`', 'one of report, ask, retry')
  if (redact !== undefined && typeof redact !== 'function') throw wrong('`redact`', 'a function from text to text')
  if (restoreRequestContext !== undefined && typeof restoreRequestContext !== 'function')
    throw wrong('`restoreRequestContext`', 'a function from what was recorded to a request context')
  if (stateSchema !== undefined && !isSchema(stateSchema)) {
    throw wrong('`stateSchema`', 'a Standard Schema, such as a zod object, or a JSON Schema of an object')
  }
  for (const id of listOf(disableBuiltinTools, 'disableBuiltinTools')) {
    const known: readonly unknown[] = BUILTIN_TOOL_IDS
    if (!known.includes(id)) {
      throw wrong(`"${String(id)}" in \`disableBuiltinTools\``, `one of ${BUILTIN_TOOL_IDS.join(', ')}`)
    }
  }
  listOf(subagents, 'subagents').forEach((subagent, index) => checkSubagent(subagent, `subagents[${index}]`))
}

function checkMode(mode: unknown, at: string): void {
  if (!isObject(mode)) throw wrong(`\`${at}\``, 'a mode such as `{ id: "build" }`')
  checkNames(`\`${at}\``, mode, MODE_NAMES)
  checkText(mode, 'id', at)
  checkAgent(mode['agent'], `${at}.agent`)
  checkTools(mode['tools'], `${at}.tools`)
  checkTools(mode['additionalTools'], `${at}.additionalTools`)
  checkSources(mode['toolSources'], `${at}.toolSources`)
}

function checkSubagent(subagent: unknown, at: string): void {
  if (!isObject(subagent)) throw wrong(`\`${at}\``, '{ id, name, description, instructions }')
  checkNames(`\`${at}\``, subagent, SUBAGENT_NAMES)
  for (const field of ['id', 'name', 'description', 'instructions']) checkText(subagent, field, at)
  checkAgent(subagent['agent'], `${at}.agent`)
  checkTools(subagent['tools'], `${at}.tools`)
  for (const field of ['allowedHarnessTools', 'allowedWorkspaceTools']) {
    const names = listOf(subagent[field], `${at}.${field}`)
    if (names.some((name) => typeof name !== 'string')) throw wrong(`\`${at}.${field}\``, 'a list of tool names')
  }
  checkFields(`\`${at}\``, subagent, { defaultModelId: aText, maxSteps: aCount, forked: aFlag })
}

function checkLimits(limits: unknown): void {
  if (limits === undefined) return
  if (!isObject(limits)) throw wrong('`subagentLimits`', '{ depth, concurrent }')
  checkNames('`subagentLimits`', limits, ['depth', 'concurrent'])
  checkFields('`subagentLimits`', limits, { depth: aCount, concurrent: aCount })
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

function checkFileSources({ consumerTools, project, rules, skills, toolSearch }: HarnessConfig): void {
  for (const [at, paths] of Object.entries({ rules, skills })) {
    const isPaths = listOf(paths, at).every((path) => typeof path === 'string' && path !== '')
    if (!isPaths) throw wrong(`\`${at}\``, 'a list of paths')
  }
  if (project !== undefined && (!isObject(project) || typeof project.folder !== 'string')) {
    throw wrong('`project`', '{ folder, trust? }')
  }
  if (toolSearch !== undefined) {
    if (!isObject(toolSearch)) throw wrong('`toolSearch`', '{ alwaysActive? }')
    checkToolSearch(toolSearch)
  }
  if (consumerTools !== undefined) checkConsumerTools(consumerTools)
}

function checkSources(sources: unknown, at: string): void {
  listOf(sources, at).forEach((source, index) =>
    checkMethods(source, `${at}[${index}]`, 'a tool source: `{ id, list, call, close }`', ['list', 'call', 'close']),
  )
}

function checkMethods(value: unknown, at: string, expected: string, methods: readonly string[]): void {
  if (value === undefined) return
  if (!isObject(value) || methods.some((method) => typeof value[method] !== 'function')) {
    throw wrong(`\`${at}\``, expected)
  }
}

function checkText(of: Readonly<Record<string, unknown>>, field: string, at: string): void {
  if (typeof of[field] !== 'string' || of[field] === '') throw wrong(`\`${at}.${field}\``, 'a text that is not empty')
}

function listOf(value: unknown, at: string): readonly unknown[] {
  if (value === undefined) return []
  if (!Array.isArray(value)) throw wrong(`\`${at}\``, 'a list')
  return value
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
