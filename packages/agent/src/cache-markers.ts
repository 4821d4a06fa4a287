import { createHash } from 'node:crypto'
import type {
  JSONObject,
  JSONValue,
  LanguageModelV4CallOptions,
  LanguageModelV4Message,
  SharedV4ProviderOptions,
} from '@ai-sdk/provider'

/** The cache marker of a provider, which says up to where a request may be cached for the next one. */
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

/** The most markers a request may have; more are dropped by the provider's package, or refused. */
const MOST_MARKS = 4

/** How long a marker without a time lasts. */
const USUAL = '5m'

/**
 * Providers that cache prefixes by themselves, and find them sooner with a key per conversation. Not the chat API: many
 * other servers use its name, and some refuse unknown fields.
 */
const KEYED = /^openai\.responses$/

/**
 * Marks what stays the same from request to request: the instructions, the tools, and everything said so far. Requests
 * only grow, so the next one finds this one's marker. Providers look only a few blocks back for it, so the end of the
 * last request keeps its marker. OpenAI's Responses API gets a key made of `conversation` instead; other providers
 * cache prefixes by themselves. `given`: the indices of messages that may have markers of the application.
 */
export function withCacheMarkers(
  options: LanguageModelV4CallOptions,
  provider: string,
  conversation: string | undefined,
  given: readonly number[] = options.prompt.keys().toArray(),
): LanguageModelV4CallOptions {
  if (KEYED.test(provider) && conversation !== undefined) {
    return marked(options, { key: 'openai', name: 'promptCacheKey', value: cacheKey(conversation) })
  }
  const mark = MARKS.find((each) => each.provider.test(provider))
  if (mark === undefined) return options
  const places = new Set([options.prompt.length - 1])
  if (options.prompt[0]?.role === 'system') places.add(0)
  const theirs = givenMarks(options, mark, given)
  const ours = places.size + (options.tools === undefined ? 0 : 1)
  const before = options.prompt.findLastIndex(({ role }) => role === 'assistant') - 1
  if (before >= 0 && ours + theirs.length < MOST_MARKS) places.add(before)
  // A longer-lasting marker must not come after a shorter one.
  const lasting = theirs.findLast(({ value }) => value['ttl'] !== undefined && value['ttl'] !== USUAL)
  const lastingMark = lasting === undefined ? mark : { ...mark, value: lasting.value }
  const markAt = (index: number): Mark => (index < (lasting?.at ?? 0) ? lastingMark : mark)
  const prompt = options.prompt.slice()
  for (const index of places) {
    const message = prompt[index]
    if (message !== undefined) prompt[index] = marked(message, markAt(index))
  }
  const tools = options.tools?.map((tool, index, all) =>
    index === all.length - 1 && tool.type === 'function' ? marked(tool, markAt(-1)) : tool,
  )
  return { ...options, prompt, ...(tools === undefined ? {} : { tools }) }
}

interface Markable {
  readonly providerOptions?: SharedV4ProviderOptions
}

/**
 * Returns the markers set by the application on messages, their parts and the request, with the index of the message.
 * One on the request counts for its end.
 */
function givenMarks(
  options: LanguageModelV4CallOptions,
  { key, name }: Mark,
  places: readonly number[],
): { at: number; value: JSONObject }[] {
  const marksOf = (item: Markable, at: number): { at: number; value: JSONObject }[] => {
    const value = item.providerOptions?.[key]?.[name]
    return isObject(value) ? [{ at, value }] : []
  }
  const inPrompt = places.flatMap((at) => markable(options.prompt[at]).flatMap((item) => marksOf(item, at)))
  return [...inPrompt, ...marksOf(options, options.prompt.length)]
}

/** Whether the application has set a cache marker of any provider on the message or one of its parts. */
export function hasMark(message: LanguageModelV4Message): boolean {
  return markable(message).some((item) =>
    MARKS.some(({ key, name }) => item.providerOptions?.[key]?.[name] !== undefined),
  )
}

/** Returns the message and its parts. */
function markable(message: LanguageModelV4Message | undefined): readonly Markable[] {
  if (message === undefined) return []
  return typeof message.content === 'string' ? [message] : [message, ...message.content]
}

/** Hashed, because the provider need not know the id, and it may be longer than the 64 characters allowed. */
function cacheKey(conversation: string): string {
  return createHash('sha256').update(conversation).digest('hex').slice(0, 32)
}

/** Adds a marker; one set by the application at the same place has precedence. */
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
