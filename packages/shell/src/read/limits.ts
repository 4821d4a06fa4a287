/**
 * A command beyond these limits is refused rather than read in part, because the unread part could be what matters. The
 * length is what Linux accepts as one argument, so `bash -c` could not get more anyway.
 */
export const limits: {
  readonly length: number
  readonly commands: number
  readonly depth: number
  readonly work: number
} = {
  length: 131_072,
  commands: 200,
  depth: 24,
  work: 40_000_000,
}

const OPENERS = /\{|\$\[|[([`<]/g

/** Measured: the parser spends several times as much on these characters. */
const COSTLY = 4

/**
 * The parser looks ahead at each opening character, so its time is bounded by openers × length. Refusing by that
 * product keeps ordinary long texts and stops `{{{{…`, which would take minutes.
 */
export function tooDense(text: string): boolean {
  if (text.length * text.length * COSTLY <= limits.work) return false
  let cost = 0
  for (const [opener] of text.matchAll(OPENERS)) cost += opener === '{' || opener === '$[' ? COSTLY : 1
  return cost * text.length > limits.work
}
