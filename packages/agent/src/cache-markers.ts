import { createHash } from 'node:crypto'
import type { JSONObject, JSONValue, LanguageModelV4CallOptions, SharedV4ProviderOptions } from '@ai-sdk/provider'

/** The mark of a provider that wants to be told up to where a request may be kept for the next one. */
interface Mark {
  readonly provider: RegExp
  readonly key: string
  readonly name: string
  readonly value: JSONObject
}

const MARKS: readonly Mark[] = [
  { provider: /anthropic/, key: 'anthropic', name: 'cacheControl', value: { type: 'ephemeral' } },
  { provider: /bedrock/, key: 'bedrock', name: 'cachePoint', value: { type: 'default' } },
]

/** So many a request may have; more are left out by the provider's package, or refused. */
const MOST_MARKS = 4

/** How long is kept what is marked without a time. */
const USUAL = '5m'

/**
 * Keeps prefixes by itself, and finds them sooner when it is told which requests go on from one another. Its chat API is
 * spoken by many servers that go by its name, and some refuse a field they do not know.
 */
const KEYED = /^openai\.responses$/

/**
 * Marks what stays the same from request to request: the instructions, the tools, and all that has been said. Requests
 * only ever grow, so that the next one finds this one's mark; it is looked for only a few blocks back, so the place where
 * the last request ended keeps its mark. OpenAI's Responses get a key instead, made of the `conversation`; other providers keep
 * prefixes by themselves.
 */
export function withCacheMarkers(
  options: LanguageModelV4CallOptions,
  provider: string,
  conversation: string | undefined,
): LanguageModelV4CallOptions {
  if (KEYED.test(provider) && conversation !== undefined) {
    return marked(options, { key: 'openai', name: 'promptCacheKey', value: cacheKey(conversation) })
  }
  const mark = MARKS.find((each) => each.provider.test(provider))
  if (mark === undefined) return options
  const places = new Set([options.prompt.length - 1])
  if (options.prompt[0]?.role === 'system') places.add(0)
  const given = givenMarks(options, mark)
  const ours = places.size + (options.tools === undefined ? 0 : 1)
  const before = options.prompt.findLastIndex(({ role }) => role === 'assistant') - 1
  if (before >= 0 && ours + given.length < MOST_MARKS) places.add(before)
  // What is to be kept for longer may not stand behind what is kept for less long.
  const lasting = given.findLast(({ value }) => value['ttl'] !== undefined && value['ttl'] !== USUAL)
  const lastingMark = lasting === undefined ? mark : { ...mark, value: lasting.value }
  const markAt = (index: number): Mark => (index < (lasting?.at ?? 0) ? lastingMark : mark)
  const prompt = options.prompt.map((message, index) => (places.has(index) ? marked(message, markAt(index)) : message))
  const tools = options.tools?.map((tool, index, all) =>
    index === all.length - 1 && tool.type === 'function' ? marked(tool, markAt(-1)) : tool,
  )
  return { ...options, prompt, ...(tools === undefined ? {} : { tools }) }
}

interface Markable {
  readonly providerOptions?: SharedV4ProviderOptions
}

/**
 * Those that people have set themselves, on its messages, their parts and the request, and at which message. What is set
 * on the request is for its end.
 */
function givenMarks(options: LanguageModelV4CallOptions, { key, name }: Mark): { at: number; value: JSONObject }[] {
  const marksOf = (item: Markable, at: number): { at: number; value: JSONObject }[] => {
    const value = item.providerOptions?.[key]?.[name]
    return isObject(value) ? [{ at, value }] : []
  }
  const inPrompt = options.prompt.flatMap((message, at) => {
    const parts: readonly Markable[] = typeof message.content === 'string' ? [] : message.content
    return [...marksOf(message, at), ...parts.flatMap((part) => marksOf(part, at))]
  })
  return [...inPrompt, ...marksOf(options, options.prompt.length)]
}

/** What it is made of is nobody's business there, and may be longer than the 64 characters that are taken. */
function cacheKey(conversation: string): string {
  return createHash('sha256').update(conversation).digest('hex').slice(0, 32)
}

/** What people have said themselves about the same place counts. */
function marked<T extends { providerOptions?: SharedV4ProviderOptions }>(
  item: T,
  { key, name, value }: Pick<Mark, 'key' | 'name'> & { readonly value: JSONValue },
): T {
  const own = item.providerOptions ?? {}
  return { ...item, providerOptions: { ...own, [key]: { [name]: value, ...own[key] } } }
}

function isObject(value: JSONValue | undefined): value is JSONObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}
