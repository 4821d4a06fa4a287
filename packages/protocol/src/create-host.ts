import type { HistoryQuery, Host } from './driver.ts'
import { InspanError } from './errors.ts'
import type { StoredMessage } from './message.ts'

/** Returns a context without limit: all of the history. */
function contextOfHistory(history: (query: HistoryQuery) => AsyncIterable<StoredMessage> | undefined): Host['context'] {
  const cacheKey = {}
  return async ({ overflow }) => {
    if (overflow !== undefined) return undefined
    const messages: StoredMessage[] = []
    for await (const message of history({ order: 'oldest' }) ?? []) messages.push(message)
    return { messages, cacheKey, conversation: messages[0]?.id ?? '' }
  }
}

/**
 * Makes a host for a program that runs a driver without a thread, and for tests. What is not given does nothing, and
 * nothing is allowed: there are no tools and no history, every call is denied, and a question is refused.
 */
export function createHost(given: Partial<Host> = {}): Host {
  return {
    ask: async ({ kind }) => {
      throw new InspanError('unsupported', `Nobody can answer a question (${kind}) here.`, {
        hint: 'Give the host a function `ask`.',
      })
    },
    withdraw: () => undefined,
    decide: () => ({ policy: 'deny', reason: 'This host allows nothing.' }),
    history: async function* () {},
    context: contextOfHistory((query) => given.history?.(query)),
    listen: async () => false,
    remind: async () => {
      throw new InspanError('unsupported', 'There is no conversation to put a reminder into.', {
        hint: 'Give the host a function `remind`.',
      })
    },
    turn: async () => ({}),
    listTools: () => [],
    callTool: async ({ toolName }) => ({ result: `There is no tool "${toolName}" here.`, isError: true }),
    bind: () => undefined,
    noteProcess: () => undefined,
    handover: { maxTokens: 50_000, countTokens: (text) => Math.ceil(text.length / 4) },
    noteHandover: () => undefined,
    noteActivity: () => undefined,
    noteLimit: () => undefined,
    redact: (text) => text,
    warn: () => undefined,
    signal: new AbortController().signal,
    now: Date.now,
    log: () => undefined,
    ...given,
  }
}
