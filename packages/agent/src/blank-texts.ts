import type { LanguageModelV4Prompt } from '@ai-sdk/provider'
import type { LanguageModel } from './language-model.ts'

/**
 * An empty text goes back for the sake of what its provider gave along. To a model of another provider that means nothing,
 * and many refuse a request with an empty text in it.
 */
export function withoutBlankTexts({ provider }: LanguageModel, prompt: LanguageModelV4Prompt): LanguageModelV4Prompt {
  // Such as `google.vertex.chat`, whose options go by `google` or by `vertex`.
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
