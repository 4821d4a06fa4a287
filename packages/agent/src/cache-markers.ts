import type { LanguageModelV4CallOptions, LanguageModelV4Message, SharedV4ProviderOptions } from '@ai-sdk/provider'

/** The marks of providers that want to be told up to where a request may be kept for the next one. */
const MARKS: readonly { readonly provider: RegExp; readonly mark: SharedV4ProviderOptions }[] = [
  { provider: /anthropic/, mark: { anthropic: { cacheControl: { type: 'ephemeral' } } } },
  { provider: /bedrock/, mark: { bedrock: { cachePoint: { type: 'default' } } } },
]

/** So many a request may have; more are left out by the provider's package, or refused. */
const MOST_MARKS = 4

/**
 * Marks what stays the same from request to request: the instructions, the tools, and all that has been said. Requests
 * only ever grow, so that the next one finds this one's mark; it is looked for only a few blocks back, so the place where
 * the last request ended keeps its mark. Other providers keep prefixes by themselves.
 */
export function withCacheMarkers(options: LanguageModelV4CallOptions, provider: string): LanguageModelV4CallOptions {
  const mark = MARKS.find((each) => each.provider.test(provider))?.mark
  if (mark === undefined) return options
  const places = new Set([options.prompt.length - 1])
  if (options.prompt[0]?.role === 'system') places.add(0)
  const ours = places.size + (options.tools === undefined ? 0 : 1)
  const before = options.prompt.findLastIndex(({ role }) => role === 'assistant') - 1
  if (before >= 0 && ours + marksIn(options, mark) < MOST_MARKS) places.add(before)
  const prompt = options.prompt.map((message, index) => (places.has(index) ? marked(message, mark) : message))
  const tools = options.tools?.map((tool, index, all) =>
    index === all.length - 1 && tool.type === 'function' ? marked(tool, mark) : tool,
  )
  return { ...options, prompt, ...(tools === undefined ? {} : { tools }) }
}

interface Markable {
  readonly providerOptions?: SharedV4ProviderOptions
}

/** Those that people have set themselves, on the request, its messages and their parts. */
function marksIn(options: LanguageModelV4CallOptions, mark: SharedV4ProviderOptions): number {
  const parts = options.prompt.flatMap(({ content }): readonly Markable[] =>
    typeof content === 'string' ? [] : content,
  )
  const wanted = Object.entries(mark).flatMap(([key, value]) => Object.keys(value).map((name) => [key, name] as const))
  return [options, ...options.prompt, ...parts].filter(({ providerOptions }: Markable) =>
    wanted.some(([key, name]) => providerOptions?.[key]?.[name] !== undefined),
  ).length
}

function marked<T extends { providerOptions?: SharedV4ProviderOptions } & (LanguageModelV4Message | object)>(
  item: T,
  mark: SharedV4ProviderOptions,
): T {
  const own = item.providerOptions ?? {}
  const merged = Object.entries(mark).map(([key, value]) => [key, { ...own[key], ...value }] as const)
  return { ...item, providerOptions: { ...own, ...Object.fromEntries(merged) } }
}
