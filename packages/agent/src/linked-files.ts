import type { LanguageModelV4FilePart, LanguageModelV4Message, LanguageModelV4Prompt } from '@ai-sdk/provider'
import type { LanguageModel } from './language-model.ts'

/** Required of models, but one written by hand may lack it. */
type SupportedUrls = Awaited<LanguageModel['supportedUrls']> | undefined

/**
 * Leaves files with only an address to models that can fetch it. For others the address becomes text: they would refuse
 * the whole request.
 */
export async function withReachableFiles(
  model: LanguageModel,
  prompt: LanguageModelV4Prompt,
): Promise<LanguageModelV4Prompt> {
  if (!prompt.some(hasLink)) return prompt
  const supported: SupportedUrls = await model.supportedUrls
  return prompt.map((message) => (hasLink(message) ? reachable(message, supported) : message))
}

type ContentPart = Exclude<LanguageModelV4Message['content'], string>[number]

function hasLink({ content }: LanguageModelV4Message): boolean {
  return typeof content !== 'string' && (content as readonly ContentPart[]).some((part) => linkOf(part) !== undefined)
}

function reachable(message: LanguageModelV4Message, supported: SupportedUrls): LanguageModelV4Message {
  const content = (message.content as readonly ContentPart[]).map((part) => {
    const url = linkOf(part)
    if (url === undefined) return part
    const { mediaType } = part as LanguageModelV4FilePart
    return isSupported(supported, mediaType, url) ? part : words(mediaType, url)
  })
  return { ...message, content } as LanguageModelV4Message
}

function linkOf(part: ContentPart): string | undefined {
  if (part.type !== 'file' && part.type !== 'reasoning-file') return undefined
  return part.data.type === 'url' ? (part.data.originalUrl ?? String(part.data.url)) : undefined
}

function isSupported(supported: SupportedUrls, mediaType: string, url: string): boolean {
  const [type] = mediaType.split('/', 1)
  return ['*', '*/*', `${type}/*`, mediaType].some((name) => supported?.[name]?.some((pattern) => pattern.test(url)))
}

function words(mediaType: string, url: string): { readonly type: 'text'; readonly text: string } {
  return { type: 'text', text: `[a file of type ${mediaType}, at ${url}]` }
}
