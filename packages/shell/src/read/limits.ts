/** Beyond these a command is refused rather than read in part: what was not read could be what matters. */
export const limits: {
  readonly length: number
  readonly commands: number
  readonly depth: number
  readonly work: number
} = {
  length: 65_536,
  commands: 200,
  depth: 24,
  work: 40_000_000,
}

const OPENERS = /[{([`<]/g

/**
 * The parser looks ahead to the end of the word or substitution at each opening character, so its time is bounded by
 * openers × length. Refusing by that product keeps ordinary long texts and stops `{{{{…`, which would take minutes.
 */
export function tooExpensive(text: string): string | null {
  if (text.length > limits.length) return `longer than ${limits.length} characters`
  if (text.length * text.length <= limits.work) return null
  let openers = 0
  OPENERS.lastIndex = 0
  while (OPENERS.test(text)) openers += 1
  return openers * text.length > limits.work ? 'too many brackets for its length' : null
}
