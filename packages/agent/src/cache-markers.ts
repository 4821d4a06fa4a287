import type { LanguageModelV4CallOptions, LanguageModelV4Message, SharedV4ProviderOptions } from '@ai-sdk/provider'

/** The marks of providers that want to be told up to where a request may be kept for the next one. */
const MARKS: readonly { readonly provider: RegExp; readonly mark: SharedV4ProviderOptions }[] = [
  { provider: /anthropic/, mark: { anthropic: { cacheControl: { type: 'ephemeral' } } } },
  { provider: /bedrock/, mark: { bedrock: { cachePoint: { type: 'default' } } } },
]

/**
 * Marks what stays the same from request to request: the instructions, the tools, and all that has been said. Requests
 * only ever grow, so that the next one finds this one's mark. Other providers keep prefixes by themselves.
 */
export function withCacheMarkers(options: LanguageModelV4CallOptions, provider: string): LanguageModelV4CallOptions {
  const mark = MARKS.find((each) => each.provider.test(provider))?.mark
  if (mark === undefined) return options
  const last = options.prompt.length - 1
  const prompt = options.prompt.map((message, index) =>
    index === last || (index === 0 && message.role === 'system') ? marked(message, mark) : message,
  )
  const tools = options.tools?.map((tool, index, all) =>
    index === all.length - 1 && tool.type === 'function' ? marked(tool, mark) : tool,
  )
  return { ...options, prompt, ...(tools === undefined ? {} : { tools }) }
}

function marked<T extends { providerOptions?: SharedV4ProviderOptions } & (LanguageModelV4Message | object)>(
  item: T,
  mark: SharedV4ProviderOptions,
): T {
  const own = item.providerOptions ?? {}
  const merged = Object.entries(mark).map(([key, value]) => [key, { ...own[key], ...value }] as const)
  return { ...item, providerOptions: { ...own, ...Object.fromEntries(merged) } }
}
