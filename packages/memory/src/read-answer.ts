import { OWN_WORDS } from './prompts.ts'
import { firstChars } from './transcript.ts'

export interface Observed {
  readonly observations: string
  readonly currentTask?: string
  readonly suggestedResponse?: string
  readonly threadTitle?: string
}

const MOST_TITLE = 80

/** A line that comes this often is no note. */
const MOST_REPEATS = 5

/** Returns the observations of an answer, or what is wrong with it. */
export function readObservations(answer: string): Observed | { readonly problem: string } {
  const observations = blockOf(answer, 'observations') ?? (answer.includes('<') ? undefined : answer.trim())
  if (observations === undefined || observations === '') return { problem: 'The answer holds no observations.' }
  if (isDegenerate(observations)) return { problem: 'The answer repeats itself.' }
  if (observations.includes(OWN_WORDS)) return { problem: 'The answer repeats its instructions.' }
  // Tags within the observations are quotations.
  const rest = answer.slice(answer.lastIndexOf('</observations>') + 1)
  const currentTask = blockOf(rest, 'current-task')
  const suggestedResponse = blockOf(rest, 'suggested-response')
  const threadTitle = blockOf(rest, 'thread-title')?.replaceAll(/\s+/g, ' ')
  return {
    observations,
    ...(currentTask === undefined ? {} : { currentTask }),
    ...(suggestedResponse === undefined ? {} : { suggestedResponse }),
    ...(threadTitle === undefined ? {} : { threadTitle: firstChars(threadTitle, MOST_TITLE) }),
  }
}

/** Whether a text is mostly the same over and over: what a model writes when it has lost its way. */
export function isDegenerate(text: string): boolean {
  const lines = new Map<string, number>()
  for (const line of text.split('\n')) {
    const key = line.trim()
    if (key.length > 3) lines.set(key, (lines.get(key) ?? 0) + 1)
  }
  if ([...lines.values()].some((count) => count > MOST_REPEATS)) return true
  const words = text.split(/\s+/)
  if (words.length < 60) return false
  const triples = new Set(words.slice(2).map((word, index) => `${words[index]} ${words[index + 1]} ${word}`))
  return triples.size < words.length * 0.3
}

function blockOf(answer: string, tag: string): string | undefined {
  const start = answer.indexOf(`<${tag}>`)
  const end = answer.lastIndexOf(`</${tag}>`)
  if (start === -1 || end < start) return undefined
  const text = answer.slice(start + tag.length + 2, end).trim()
  return text === '' ? undefined : text
}
