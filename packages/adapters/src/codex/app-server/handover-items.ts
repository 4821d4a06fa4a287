import type { JsonObject, StoredMessage } from '@evener/protocol'
import { wordsOf } from '../../live/handover.ts'

/** Items of the model's own history, in the words of its provider. */
export function handoverItems(messages: readonly StoredMessage[]): readonly JsonObject[] {
  return messages.flatMap((message) => {
    const text = message.parts
      .map(wordsOf)
      .filter((words) => words !== '')
      .join('\n')
    return text === '' ? [] : [itemOf(message, text)]
  })
}

/** The instructions that hold from here on: a thread keeps those it was begun with. */
export function instructionsItem(instructions: string | undefined): JsonObject {
  const text =
    instructions === undefined
      ? 'The earlier instructions of the developer no longer hold.'
      : `From now on these instructions hold instead of earlier ones:\n${instructions}`
  return { type: 'message', role: 'developer', content: [{ type: 'input_text', text }] }
}

/** Others than the user speak as assistants; who it was is said, as it was not the reader. */
function itemOf({ role, by }: StoredMessage, text: string): JsonObject {
  if (role === 'user') return { type: 'message', role: 'user', content: [{ type: 'input_text', text }] }
  const said = by === undefined ? text : `[${by}]\n${text}`
  return { type: 'message', role: 'assistant', content: [{ type: 'output_text', text: said }] }
}
