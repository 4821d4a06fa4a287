import type { JsonObject } from '@inspan/protocol'

export interface DemoResult {
  readonly text: string
  readonly isError: boolean
}

interface PromptMessage {
  readonly role: string
  readonly content: readonly { readonly output?: { readonly type: string; readonly value?: unknown } }[]
}

/** Returns the results that a model has got since it was asked last. */
export function resultsOf({ prompt }: JsonObject): readonly DemoResult[] {
  const messages = prompt as unknown as readonly PromptMessage[]
  const asked = messages.findLastIndex(({ role }) => role === 'user')
  return messages
    .slice(asked)
    .flatMap(({ content, role }) =>
      role === 'tool'
        ? content.flatMap(({ output }) =>
            output === undefined ? [] : [{ text: String(output.value), isError: output.type === 'error-text' }],
          )
        : [],
    )
}
