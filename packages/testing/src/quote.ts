import { QuoteNotFound } from './script-errors.ts'
import type { ModelTurn } from './script.ts'

// A `}` right after the closing braces belongs to the pattern: `{{re:a{3}}}`.
const quote = /\{\{re:([\s\S]+?)\}\}(?!\})/g

/** Where `{{re:…}}` searches, newest first: the messages of the request from last to first, then the whole request. */
export type QuoteSource = () => Iterable<string>

export function hasQuotes(turn: ModelTurn): boolean {
  return contains(turn)
}

/**
 * Replaces every `{{re:PATTERN}}` in the strings of a turn by what the pattern finds in the request: its first group,
 * or the whole match. This lets a script refer to ids it cannot know, such as those in tool results.
 */
export function fillQuotes(turn: ModelTurn, source: QuoteSource): ModelTurn {
  return fill(turn, source) as ModelTurn
}

function contains(value: unknown): boolean {
  if (typeof value === 'string') return value.includes('{{re:')
  if (typeof value !== 'object' || value === null) return false
  return Object.values(value).some((item) => contains(item))
}

function fill(value: unknown, source: QuoteSource): unknown {
  if (typeof value === 'string') return value.replace(quote, (_, pattern: string) => find(pattern, source))
  if (Array.isArray(value)) return value.map((item) => fill(item, source))
  if (typeof value !== 'object' || value === null) return value
  return Object.fromEntries(Object.entries(value).map(([key, item]) => [key, fill(item, source)]))
}

function find(pattern: string, source: QuoteSource): string {
  const expression = new RegExp(pattern, 'g')
  for (const text of source()) {
    const last = [...text.matchAll(expression)].at(-1)
    if (last !== undefined) return last[1] ?? last[0]
  }
  throw new QuoteNotFound(pattern)
}
