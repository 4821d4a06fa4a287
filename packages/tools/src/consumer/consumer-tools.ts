import { InspanError, type Answer, type JsonObject } from '@inspan/protocol'
import type { ToolDefinition } from '@inspan/protocol/chat'
import type { SourcedTool, ToolOutcome, ToolRunContext, ToolSource, ToolSuspension } from '@inspan/protocol/driver'

/**
 * Tools that the consumer of a conversation carries out: declared by schema, called by the model, answered later and
 * maybe to another process. Several calls of a step wait at once and are answered in any order.
 */
export class ConsumerTools implements ToolSource {
  readonly id: string = 'consumer'
  readonly #tools: readonly SourcedTool[]

  constructor(definitions: readonly ToolDefinition[]) {
    checkConsumerTools(definitions)
    this.#tools = definitions.map(({ annotations, description, inputSchema, name }) => ({
      name,
      ...(description === undefined ? {} : { description }),
      inputSchema: inputSchema as JsonObject,
      ...(annotations === undefined ? {} : { annotations }),
    }))
  }

  list(): readonly SourcedTool[] {
    return this.#tools
  }

  async call(
    name: string,
    input: JsonObject,
    { resume, toolCallId }: ToolRunContext,
  ): Promise<ToolOutcome | ToolSuspension> {
    if (resume !== undefined) return outcomeOf(resume)
    return {
      suspend: {
        kind: 'tool',
        description: `Waits for the result of ${name}`,
        payload: { toolCallId, toolName: name, args: input },
      },
    }
  }

  async close(): Promise<void> {}
}

/** Throws if the definitions cannot be used. */
export function checkConsumerTools(definitions: readonly ToolDefinition[]): void {
  const names = new Set<string>()
  for (const { inputSchema, name } of definitions) {
    if (typeof name !== 'string' || name === '')
      throw new InspanError('invalid-input', 'A consumer tool needs a `name`.')
    if (names.has(name)) throw new InspanError('invalid-input', `There are two consumer tools called "${name}".`)
    if (typeof inputSchema !== 'object' || (inputSchema as unknown) === null) {
      throw new InspanError('invalid-input', `Consumer tool "${name}" needs an \`inputSchema\`, a JSON Schema object.`)
    }
    names.add(name)
  }
}

function outcomeOf({ decision, error, reason, value }: Answer): ToolOutcome {
  if (decision === 'decline') return { result: reason ?? 'The consumer declined the call.', isError: true }
  return { result: value ?? null, ...(error === undefined ? {} : { isError: true, error }) }
}
