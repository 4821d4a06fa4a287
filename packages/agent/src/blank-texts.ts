import type { LanguageModelV4Prompt } from '@ai-sdk/provider'
import type { LanguageModel } from './language-model.ts'

/**
 * Removes empty texts. They are only kept for the metadata of their own provider: to others they mean nothing, and many
 * models refuse a request with an empty text.
 */
export function withoutBlankTexts({ provider }: LanguageModel, prompt: LanguageModelV4Prompt): LanguageModelV4Prompt {
  // E.g. `google.vertex.chat`, whose options are under `google` or `vertex`.
  const names = new Set(provider.split(/[.-]/))
  return prompt.flatMap((message): LanguageModelV4Prompt => {
    if (message.role !== 'assistant') return [message]
    const content = message.content.filter(
      (part) =>
        part.type !== 'text' ||
        part.text !== '' ||
        Object.keys(part.providerOptions ?? {}).some((key) => names.has(key)),
    )
    if (content.length === message.content.length) return [message]
    return content.length === 0 ? [] : [{ ...message, content }]
  })
}
