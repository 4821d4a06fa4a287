import type { CallToolResult, StandardSchemaV1, Tool } from '@modelcontextprotocol/client'
import { InspanError } from '@inspan/protocol'
import { withinTime } from '../time-limit.ts'
import type { McpLibrary } from './load-client.ts'

/** A server may declare a pattern that backtracks without end. */
const MOST_MS = 1_000

type OutputCheck = Pick<StandardSchemaV1['~standard'], 'validate'> | 'broken'

/** Checks what tools return against the schemas their server declared for them. */
export class OutputChecks {
  readonly #library: McpLibrary
  readonly #checks = new WeakMap<Tool, OutputCheck>()

  constructor(library: McpLibrary) {
    this.#library = library
  }

  /** Returns what is wrong with a result, for the model. */
  problem(tool: Tool, { isError, structuredContent }: CallToolResult): string | undefined {
    if (tool.outputSchema === undefined || isError === true) return undefined
    if (structuredContent === undefined) return 'The tool did not return the structured result that it declares.'
    const check = this.#checkOf(tool)
    if (check === 'broken') return 'The tool declares a schema for its result that cannot be read.'
    try {
      const checked = withinTime(MOST_MS, () => check.validate(structuredContent))
      if (checked instanceof Promise || checked.issues === undefined) return undefined
      const what = checked.issues.map(({ message }) => message).join('; ')
      return `The tool returned a result that does not match the schema it declares: ${what}`.slice(0, 1_000)
    } catch (error) {
      if (!InspanError.is(error, 'expired')) throw error
      return 'The tool declares a schema for its result that takes too long to check.'
    }
  }

  #checkOf(tool: Tool): OutputCheck {
    const known = this.#checks.get(tool)
    if (known !== undefined) return known
    const made = this.#compile(tool)
    this.#checks.set(tool, made)
    return made
  }

  #compile({ outputSchema }: Tool): OutputCheck {
    try {
      return this.#library.fromJsonSchema({ ...(outputSchema as Record<string, unknown>) })['~standard']
    } catch {
      return 'broken'
    }
  }
}
