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

const OPENERS = /\{|\$\[|[([`<]/g

/** Measured: the parser spends several times as much on these. */
const COSTLY = 4

/**
 * The parser looks ahead at each opening character, so its time is bounded by openers × length. Refusing by that product
 * keeps ordinary long texts and stops `{{{{…`, on which it would spend minutes.
 */
export function tooExpensive(text: string): string | null {
  if (text.length > limits.length) return `longer than ${limits.length} characters`
  if (text.length * text.length * COSTLY <= limits.work) return null
  let cost = 0
  for (const [opener] of text.matchAll(OPENERS)) cost += opener === '{' || opener === '$[' ? COSTLY : 1
  return cost * text.length > limits.work ? 'too many brackets for its length' : null
}
