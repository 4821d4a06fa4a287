import type { LanguageModelV4CallOptions, LanguageModelV4FilePart, LanguageModelV4Message } from '@ai-sdk/provider'
import type { LanguageModel } from './language-model.ts'

/** Rewrites files for models of earlier specifications. Everything else is the same for them. */
export function forSpecificationOf(
  model: LanguageModel,
  options: LanguageModelV4CallOptions,
): LanguageModelV4CallOptions {
  const { specificationVersion } = model
  if (specificationVersion === 'v4') return options
  const prompt = options.prompt.flatMap((message) => olderMessage(message, specificationVersion))
  return { ...options, prompt }
}

function olderMessage(message: LanguageModelV4Message, version: 'v2' | 'v3'): LanguageModelV4Message[] {
  if (message.role === 'system') return [message]
  const content = (message.content as readonly { type: string }[]).flatMap((part): object[] => {
    if (part.type === 'file') return [olderFile(part as LanguageModelV4FilePart)]
    // They have no such part.
    if (part.type === 'reasoning-file') return []
    return [part.type === 'tool-result' ? olderResult(part as OutputPart, version) : part]
  })
  // Empty messages are refused.
  return content.length === 0 ? [] : [{ ...message, content } as unknown as LanguageModelV4Message]
}

interface OutputPart {
  readonly type: string
  readonly output: { readonly type: string; readonly value?: unknown }
}

function olderResult(part: OutputPart, version: 'v2' | 'v3'): OutputPart {
  if (part.output.type !== 'content' || !Array.isArray(part.output.value)) return part
  const value = (part.output.value as readonly LanguageModelV4FilePart[]).map((item) => {
    if (item.type !== 'file') return item
    const { data, filename, mediaType } = olderFile(item)
    if (version === 'v2') return { type: 'media', data, mediaType }
    return { type: 'file-data', data, mediaType, ...(filename === undefined ? {} : { filename }) }
  })
  return { ...part, output: { ...part.output, value } }
}

function olderFile(part: LanguageModelV4FilePart): Omit<LanguageModelV4FilePart, 'data'> & { readonly data: unknown } {
  const { data } = part
  return { ...part, data: data.type === 'data' ? data.data : data.type === 'url' ? data.url : data }
}
