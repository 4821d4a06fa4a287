import { existsSync } from 'node:fs'
import { readFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { InspanError } from '@inspan/protocol'
import { didYouMean } from '@inspan/protocol/internal'
import { jsonFields, positionOf } from './json-fields.ts'
import { CLI_IDS, type CliId } from './served-modes.ts'

export const CONFIG_NAME = 'inspan.json'

/** Defaults for the commands of a project. Options of the command line go first. It grants nothing: only you can. */
export interface InspanConfig {
  /** The coding agent of `run` and `chat`, and a mode of `serve`. */
  readonly harness?: CliId
  /** The model: `provider/model` for our own loop, or as the coding agent names it. */
  readonly model?: string
  /** Categories of tools that are denied, whatever else is allowed. */
  readonly deny?: readonly ('edit' | 'execute' | 'mcp' | 'other')[]
  /** Ends a run that has cost more, in US dollars. */
  readonly maxCost?: number
  /** Ends a run after this many seconds. */
  readonly timeout?: number
}

const DENIABLE = ['edit', 'execute', 'mcp', 'other'] as const

interface SettingRule {
  readonly wanted: string
  readonly accepts: (value: unknown) => boolean
  /** The JSON Schema of the value. */
  readonly schema: object
}

const RULES: Readonly<Record<keyof InspanConfig, SettingRule>> = {
  harness: {
    wanted: `one of ${CLI_IDS.join(', ')}`,
    accepts: (value) => CLI_IDS.some((id) => id === value),
    schema: { enum: CLI_IDS },
  },
  model: {
    wanted: 'the name of a model, such as "anthropic/claude-sonnet-4-5"',
    accepts: (value) => typeof value === 'string' && value !== '',
    schema: { type: 'string', minLength: 1 },
  },
  deny: {
    wanted: `a list of ${DENIABLE.join(', ')}`,
    accepts: (value) => Array.isArray(value) && value.every((each) => DENIABLE.some((name) => name === each)),
    schema: { type: 'array', items: { enum: DENIABLE } },
  },
  maxCost: {
    wanted: 'a number of dollars above 0',
    accepts: (value) => typeof value === 'number' && value > 0,
    schema: { type: 'number', exclusiveMinimum: 0 },
  },
  timeout: {
    wanted: 'a number of seconds above 0',
    accepts: (value) => typeof value === 'number' && value > 0,
    schema: { type: 'number', exclusiveMinimum: 0 },
  },
}

/** The JSON Schema of the file, so that editors complete and check it. */
export function configSchema(): object {
  const properties = Object.fromEntries(Object.entries(RULES).map(([name, { schema }]) => [name, schema]))
  return {
    $schema: 'https://json-schema.org/draft/2020-12/schema',
    title: 'Inspan',
    type: 'object',
    properties: { $schema: { type: 'string' }, ...properties },
    additionalProperties: false,
  }
}

/** Reads the config of a folder or the nearest one above it. Empty when there is none. */
export async function readConfig(cwd: string): Promise<InspanConfig> {
  const file = findConfig(cwd)
  return file === undefined ? {} : parseConfig(await readFile(file, 'utf8'), file)
}

function findConfig(folder: string): string | undefined {
  const file = join(folder, CONFIG_NAME)
  if (existsSync(file)) return file
  const above = dirname(folder)
  // A repository is a world of its own: what lies above it was not written for it.
  return above === folder || existsSync(join(folder, '.git')) ? undefined : findConfig(above)
}

export function parseConfig(text: string, file: string): InspanConfig {
  const fail = (offset: number, message: string): never => {
    const { column, line } = positionOf(text, offset)
    throw new InspanError('invalid-input', `${file}:${line}:${column}: ${message}`, { details: { file, line, column } })
  }
  const parsed = jsonFields(text)
  if ('problem' in parsed) return fail(parsed.offset, parsed.problem)
  for (const { name, offset, value, valueOffset } of parsed.fields) {
    if (name === '$schema') continue
    if (!isKnown(name)) {
      return fail(offset, `there is no setting "${name}". ${didYouMean(name, Object.keys(RULES))}`)
    }
    const { accepts, wanted } = RULES[name]
    if (!accepts(value)) return fail(valueOffset, `"${name}" has to be ${wanted}, not ${JSON.stringify(value)}.`)
  }
  return Object.fromEntries(parsed.fields.flatMap(({ name, value }) => (isKnown(name) ? [[name, value]] : [])))
}

function isKnown(name: string): name is keyof InspanConfig {
  return Object.hasOwn(RULES, name)
}
