import {
  InspanError,
  type ActivityEvent,
  type ActivityNote,
  type JsonObject,
  type JsonValue,
  type ToolCategory,
} from '@inspan/protocol'
import type { ToolOutcome, ToolRunContext } from '@inspan/protocol/driver'
import type { WorkspaceFiles } from './files.ts'
import type { Processes } from './processes.ts'
import type { SeenFiles } from './seen-files.ts'
import type { WorkspaceShell } from './shell.ts'

export interface WorkspaceToolConfig {
  /** Whether agents get the tool. Default: true. */
  readonly enabled?: boolean
  /** The name that models, rules and allow-lists use. Default: the tool's own. */
  readonly name?: string
  /** Whether a call needs approval when no rule allows it. */
  readonly requireApproval?: boolean
  /** Refuses to change an existing file that this thread has not read, or that has changed since. Default: false. */
  readonly requireReadBeforeWrite?: boolean
  /** How much of a result the model gets, in tokens of about four characters. */
  readonly maxOutputTokens?: number
}

/** What a call of a workspace tool works with. */
export interface ToolCall {
  readonly root: string
  readonly files: WorkspaceFiles
  readonly shell: WorkspaceShell
  readonly processes: Processes
  readonly seen: SeenFiles
  readonly config: WorkspaceToolConfig
  readonly run: ToolRunContext
}

/** A tool of the workspace, before it is configured. */
export interface WorkspaceTool {
  readonly name: string
  readonly description: string
  readonly category: ToolCategory
  readonly inputSchema: JsonObject
  readonly isReadOnly: boolean
  /** The argument with the path that a call changes. */
  readonly changes?: string
  /** Throws if the input cannot be used. */
  check(input: JsonObject): void
  execute(input: JsonObject, call: ToolCall): Promise<ToolOutcome>
}

export interface WorkspaceToolDefinition<Input> extends Pick<
  WorkspaceTool,
  'name' | 'description' | 'category' | 'changes'
> {
  readonly properties: JsonObject
  readonly required?: readonly string[]
  readonly parse: (input: Fields) => Input
  readonly execute: (input: Input, call: ToolCall) => Promise<ToolOutcome>
}

export function workspaceTool<Input>(definition: WorkspaceToolDefinition<Input>): WorkspaceTool {
  const { category, changes, description, execute, name, parse, properties, required = [] } = definition
  return {
    name,
    description,
    category,
    isReadOnly: category === 'read',
    inputSchema: { type: 'object', properties, required: [...required], additionalProperties: false },
    ...(changes === undefined ? {} : { changes }),
    check: (input) => void parse(new Fields(input)),
    execute: (input, call) => execute(parse(new Fields(input)), call),
  }
}

/** Reads the arguments of a call. Models leave out or mistype them. */
export class Fields {
  readonly #input: JsonObject

  constructor(input: JsonObject) {
    this.#input = input
  }

  text(name: string): string {
    const value = this.optionalText(name)
    if (value === undefined) throw wrong(name, 'is missing')
    return value
  }

  /** A text that has to say something. */
  filled(name: string): string {
    const value = this.text(name)
    if (value.trim() === '') throw wrong(name, 'is empty')
    return value
  }

  optionalText(name: string): string | undefined {
    const value = this.#input[name] ?? undefined
    if (value !== undefined && typeof value !== 'string') throw wrong(name, 'has to be a text')
    return value
  }

  flag(name: string, otherwise = false): boolean {
    const value = this.#input[name] ?? otherwise
    if (typeof value !== 'boolean') throw wrong(name, 'has to be true or false')
    return value
  }

  count(name: string, least = 1): number | undefined {
    const value = this.#input[name] ?? undefined
    if (value === undefined) return undefined
    if (typeof value !== 'number' || !Number.isInteger(value) || value < least) {
      throw wrong(name, `has to be a whole number from ${least} on`)
    }
    return value
  }

  list(name: string): Fields[] | undefined {
    const value = this.#input[name] ?? undefined
    if (value === undefined) return undefined
    if (!Array.isArray(value)) throw wrong(name, 'has to be a list')
    return (value as readonly JsonValue[]).map((each, index) => {
      if (typeof each !== 'object' || each === null || Array.isArray(each))
        throw wrong(`${name}[${index}]`, 'has to be an object')
      return new Fields(each as JsonObject)
    })
  }
}

function wrong(name: string, why: string): InspanError {
  return new InspanError('invalid-input', `\`${name}\` ${why}.`)
}

export function activity(...events: readonly ActivityInput[]): ActivityNote {
  const timestamp = new Date().toISOString()
  return { mapper: 'workspace', version: 1, events: events.map((event) => ({ timestamp, ...event })) }
}

type WithoutTime<Event> = Event extends ActivityEvent ? Omit<Event, 'timestamp'> : never
export type ActivityInput = WithoutTime<ActivityEvent>

/** Models read about four characters per token. */
export function characterLimit({ maxOutputTokens }: WorkspaceToolConfig, otherwise: number): number {
  return (maxOutputTokens ?? otherwise) * 4
}
