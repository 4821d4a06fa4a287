import type { JsonObject, JsonValue } from '@inspan/protocol'
import { asArray, asObject, asText, NO_FIELDS } from '../kit/fields.ts'

export interface CallLocation {
  readonly path: string
  readonly line?: number
}

/** The content of a file before and after a change. */
export interface CallDiff {
  readonly path: string
  readonly oldText: string | null
  readonly newText: string
}

const ENDS: ReadonlySet<string | undefined> = new Set(['completed', 'failed'])
const NOTHING: readonly JsonObject[] = []

/** One tool call, merged from all updates about it: each reports only what is new. */
export class AcpToolCall {
  readonly id: string
  /** The first title, which some agents use for the tool's name. */
  firstTitle: string | undefined
  title: string | undefined
  name: string | undefined
  kind: string | undefined
  status: string | undefined
  input: JsonObject = NO_FIELDS
  /** What came as input, if it was not an object. */
  invalidInput: string | undefined
  output: JsonValue | undefined
  /** A request for permission was made, which describes what is to be done. */
  isAsked = false
  /** Data that the agent adds for its own use. */
  meta: JsonObject = NO_FIELDS
  #content: readonly JsonObject[] = NOTHING
  #reportedDiffs: readonly JsonObject[] = NOTHING
  #askedDiffs: readonly JsonObject[] = NOTHING
  #locations: readonly JsonValue[] = []

  constructor(id: string) {
    this.id = id
  }

  /** Merges a `tool_call` or `tool_call_update`, which replaces earlier values. */
  merge(update: JsonObject): void {
    const title = asText(update['title'])
    if (update['sessionUpdate'] === 'tool_call') this.firstTitle ??= title
    this.title = title ?? this.title
    this.name = asText(update['name']) ?? this.name
    this.kind = asText(update['kind']) ?? this.kind
    this.#mergeStatus(asText(update['status']))
    this.#mergeInput(update['rawInput'])
    const { rawOutput } = update
    if (rawOutput !== undefined && rawOutput !== null) this.output = rawOutput
    const content = asArray(update['content'])
    if (content !== undefined) {
      this.#content = objectsOf(content)
      // Later updates may show only the outcome; the diffs still hold.
      if (diffsOf(this.#content).length > 0) this.#reportedDiffs = this.#content
    }
    this.#locations = asArray(update['locations']) ?? this.#locations
    const meta = asObject(update['_meta'])
    if (meta !== undefined) this.meta = { ...this.meta, ...meta }
  }

  /** Merges a request for permission. It may be about a part of the call, so it adds fields and replaces none. */
  mergeAsked(toolCall: JsonObject): void {
    this.isAsked = true
    this.title ??= asText(toolCall['title'])
    this.name ??= asText(toolCall['name'])
    this.kind ??= asText(toolCall['kind'])
    if (!this.hasInput) this.#mergeInput(toolCall['rawInput'])
    const content = asArray(toolCall['content'])
    if (content !== undefined) this.#askedDiffs = objectsOf(content)
    if (this.#locations.length === 0) this.#locations = asArray(toolCall['locations']) ?? []
  }

  /**
   * The command in the agent's own words, if it shows it only as the title, as Gemini does: with the folder in brackets
   * and a description in parentheses after it.
   */
  get saidCommand(): string | undefined {
    if (this.kind !== 'execute' || this.hasInput) return undefined
    const said = (this.title ?? '').replace(/ \[(?:in|current working directory) [^\]]*\](?: \([^]*\))?$/, '').trim()
    return said === '' ? undefined : said
  }

  get hasInput(): boolean {
    return this.invalidInput !== undefined || Object.keys(this.input).length > 0
  }

  /** Whether the call has begun, so that its input is complete. */
  get hasBegun(): boolean {
    return this.status !== undefined && this.status !== 'pending'
  }

  get hasEnded(): boolean {
    return ENDS.has(this.status)
  }

  /** The text output so far; `undefined` if there is none. */
  get text(): string | undefined {
    const texts = this.#content.flatMap((item) => {
      const block = item['type'] === 'content' ? asObject(item['content']) : undefined
      const text = block?.['type'] === 'text' ? block['text'] : undefined
      return typeof text === 'string' ? [text] : []
    })
    return texts.length === 0 ? undefined : texts.join('\n')
  }

  get diffs(): readonly CallDiff[] {
    const reported = diffsOf(this.#reportedDiffs)
    return reported.length > 0 ? reported : diffsOf(this.#askedDiffs)
  }

  get locations(): readonly CallLocation[] {
    return this.#locations.flatMap((item): readonly CallLocation[] => {
      const location = asObject(item)
      const path = asText(location?.['path'])
      const line = location?.['line']
      if (path === undefined) return []
      return [typeof line === 'number' && Number.isSafeInteger(line) && line > 0 ? { path, line } : { path }]
    })
  }

  /** Never goes back: an end stays the end, whatever is repeated after it. */
  #mergeStatus(status: string | undefined): void {
    if (status === undefined || this.hasEnded) return
    if (status !== 'pending' || this.status === undefined) this.status = status
  }

  #mergeInput(rawInput: JsonValue | undefined): void {
    if (rawInput === undefined || rawInput === null) return
    const input = asObject(rawInput)
    if (input !== undefined) {
      if (Object.keys(input).length > 0) this.input = input
    } else this.invalidInput = typeof rawInput === 'string' ? rawInput : JSON.stringify(rawInput)
  }
}

function objectsOf(items: readonly JsonValue[]): readonly JsonObject[] {
  return items.flatMap((item) => {
    const object = asObject(item)
    return object === undefined ? [] : [object]
  })
}

function diffsOf(content: readonly JsonObject[]): readonly CallDiff[] {
  return content.flatMap((item): readonly CallDiff[] => {
    const path = asText(item['path'])
    const { type, oldText, newText } = item
    if (type !== 'diff' || path === undefined || typeof newText !== 'string') return []
    return [{ path, oldText: typeof oldText === 'string' ? oldText : null, newText }]
  })
}
