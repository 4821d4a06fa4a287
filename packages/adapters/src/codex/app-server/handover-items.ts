import type { JsonObject, StoredMessage } from '@inspan/protocol'
import { wordsOf } from '../../live/handover.ts'

/** Returns messages as items of the model's history, in the provider's format. */
export function handoverItems(messages: readonly StoredMessage[]): readonly JsonObject[] {
  return messages.flatMap((message) => {
    const text = message.parts
      .map(wordsOf)
      .filter((words) => words !== '')
      .join('\n')
    return text === '' ? [] : [itemOf(message, text)]
  })
}

/** Returns an item with the instructions from here on: a native thread keeps those it was begun with. */
export function instructionsItem(instructions: string | undefined): JsonObject {
  const text =
    instructions === undefined
      ? 'The earlier instructions of the developer no longer hold.'
      : `From now on these instructions hold instead of earlier ones:\n${instructions}`
  return { type: 'message', role: 'developer', content: [{ type: 'input_text', text }] }
}

/** Speakers other than the user become assistants. Their name is included, because the reader is not the speaker. */
function itemOf({ role, by }: StoredMessage, text: string): JsonObject {
  if (role === 'user') return { type: 'message', role: 'user', content: [{ type: 'input_text', text }] }
  const said = by === undefined ? text : `[${by}]\n${text}`
  return { type: 'message', role: 'assistant', content: [{ type: 'output_text', text: said }] }
}
