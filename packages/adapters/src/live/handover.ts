import type { HandoverBudget, Host, NativeRef, Part, StoredMessage } from '@evener/protocol'

/** Used where nobody says how much may be handed over: the newest that fits. */
const DEFAULT_BUDGET: HandoverBudget = {
  maxTokens: 50_000,
  countTokens: (text) => Math.ceil(text.length / 4),
}

/** What was said in the thread since the agent's own session last heard of it. */
export interface Handover {
  /** Oldest first. */
  readonly messages: readonly StoredMessage[]
  readonly tokens: number
  /** Older messages did not fit. */
  readonly isTruncated: boolean
}

export interface HandoverQuery {
  /** The session holds this message. */
  readonly isKnown: (native: NativeRef) => boolean
  /** The seq up to which the session is known to know the thread. */
  readonly syncedTo: number
  /** Runs whose messages the session has heard as they were said. */
  readonly heardRuns: ReadonlySet<string>
  readonly budget?: HandoverBudget | undefined
}

/** Looks back from the newest message to the newest that the session holds. */
export async function unheard(history: Host['history'], query: HandoverQuery): Promise<Handover> {
  const { isKnown, syncedTo, heardRuns, budget = DEFAULT_BUDGET } = query
  const messages: StoredMessage[] = []
  let tokens = 0
  for await (const message of history({ order: 'newest', ...(syncedTo > 0 ? { after: syncedTo } : {}) })) {
    if ([message, ...message.parts].some(({ native }) => native !== undefined && isKnown(native))) break
    if (message.run !== undefined && heardRuns.has(message.run)) continue
    if (message.parentToolCallId !== undefined || message.parts.length === 0) continue
    const size = budget.countTokens(message.parts.map(wordsOf).join('\n'))
    if (tokens + size > budget.maxTokens) return { messages: messages.toReversed(), tokens, isTruncated: true }
    tokens += size
    messages.push(message)
  }
  return { messages: messages.toReversed(), tokens, isTruncated: false }
}

/** Longer arguments and results are cut: another agent needs to know what was done, not every byte of it. */
const MAX_DETAIL = 4_000

/** What a part says, in words. Tool calls of others are told as text: the reader may not have the tool. */
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
