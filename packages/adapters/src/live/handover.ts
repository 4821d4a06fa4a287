import type { NativeRef, Part, StoredMessage } from '@inspan/protocol'
import type { HandoverBudget, Host, Turn } from '@inspan/protocol/driver'

/** The default budget for a hand-over: the newest messages that fit. */
const DEFAULT_BUDGET: HandoverBudget = {
  maxTokens: 50_000,
  countTokens: (text) => Math.ceil(text.length / 4),
}

/** What was said in the thread since the agent's native session last heard of it. */
export interface Handover {
  /** Oldest first, without the input of the turn itself. */
  readonly messages: readonly StoredMessage[]
  readonly tokens: number
  /** Number of older messages that did not fit, up to `MAX_OMITTED`. */
  readonly omitted: number
  /** The newest message alone did not fit: only its beginning is included. */
  readonly isCut: boolean
}

/** An exact count beyond this is of no use to anybody. */
export const MAX_OMITTED = 1000

export interface HandoverQuery {
  /** Whether the session holds this message. */
  readonly isKnown: (native: NativeRef) => boolean
  /** The seq up to which the session knows the thread. */
  readonly syncedTo: number
  /** Runs whose messages the session heard as they were said. */
  readonly heardRuns: ReadonlySet<string>
  readonly budget?: HandoverBudget | undefined
  /** The turn whose input is in the history already and becomes the prompt. */
  readonly turn?: TurnOfInput | undefined
}

type TurnOfInput = Pick<Turn, 'runId'> & Partial<Pick<Turn, 'turnId'>>

/** Collects messages from the newest back to the newest one that the session holds. */
export async function missedMessages(history: Host['history'], query: HandoverQuery): Promise<Handover> {
  const { isKnown, syncedTo, heardRuns, budget = DEFAULT_BUDGET, turn } = query
  const messages: StoredMessage[] = []
  let input: StoredMessage | undefined
  let passedOn = 0
  let tokens = 0
  let omitted = 0
  let isCut = false
  for await (const message of history({ order: 'newest', ...(syncedTo > 0 ? { after: syncedTo } : {}) })) {
    if ([message, ...message.parts].some(({ native }) => native !== undefined && isKnown(native))) break
    if (message.run !== undefined && heardRuns.has(message.run)) continue
    if (message.parentToolCallId !== undefined || message.parts.length === 0) continue
    if (turn !== undefined && isOfTurn(message, turn)) {
      // The oldest of them is the input: messages that steered the turn came later.
      input = message
      messages.push(message)
      continue
    }
    const words = message.parts.map(wordsOf).join('\n')
    const size = budget.countTokens(words)
    if (!isCut && omitted === 0 && tokens + size <= budget.maxTokens) {
      tokens += size
      passedOn++
      messages.push(message)
    } else if (passedOn === 0) {
      isCut = true
      passedOn++
      tokens = budget.maxTokens
      messages.push({ ...message, parts: [beginning(words, budget.maxTokens / size)] })
    } else if (++omitted >= MAX_OMITTED) break
  }
  return { messages: messages.filter((message) => message !== input).toReversed(), tokens, omitted, isCut }
}

function isOfTurn({ role, run, turn }: StoredMessage, { runId, turnId }: TurnOfInput): boolean {
  if (role !== 'user') return false
  return turn === undefined || turnId === undefined ? run === runId : turn === turnId
}

function beginning(words: string, share: number): Part {
  const text = words.slice(0, Math.floor(words.length * share)).replace(/[\ud800-\udbff]$/, '')
  return { id: '0', type: 'text', text: `${text.trimEnd()} […]` }
}

/** Longer arguments and results are cut: another agent needs to know what was done, not every byte of it. */
const MAX_DETAIL = 4_000

/** Returns a part as text. Tool calls of others are described in words, because the reader may not have the tool. */
export function wordsOf(part: Part): string {
  switch (part.type) {
    case 'text':
    case 'signal':
      return part.text
    case 'tool-call':
      return `[called ${part.toolName} with ${cut(JSON.stringify(part.args))}]`
    case 'tool-result':
      return `[${part.toolName} ${part.isError === true ? 'failed' : 'gave'} ${cut(resultText(part.result))}]`
    case 'image':
      return `[image${part.fileName === undefined ? '' : ` ${part.fileName}`}]`
    case 'file':
      return `[file${part.fileName === undefined ? '' : ` ${part.fileName}`}]`
    case 'reasoning':
      return ''
  }
}

function resultText(result: unknown): string {
  return typeof result === 'string' ? result : (JSON.stringify(result) ?? '')
}

function cut(text: string): string {
  return text.length <= MAX_DETAIL ? text : `${text.slice(0, MAX_DETAIL).toWellFormed()}…`
}
