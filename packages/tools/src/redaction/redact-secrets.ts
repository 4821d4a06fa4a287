import { InspanError } from '@inspan/protocol'
import { SECRET_DETECTORS, type SecretDetector } from './detectors.ts'

export interface RedactSecretsOptions {
  /** Names of detectors to leave out. */
  readonly except?: readonly string[]
  /** More detectors, tried first. What they find in one line is also removed while a text is streamed. */
  readonly more?: readonly SecretDetector[]
  /** What takes the place of a secret. Default: `[redacted: <name>]`. */
  readonly replacement?: (name: string) => string
}

/** How a removed secret is marked. What is marked is not looked at again. */
const MARK = /\[redacted: [a-z-]+\]/

/** A redactor that knows how much of a text is settled while the rest is still being written. */
export interface SecretRedactor {
  (text: string): string
  readonly settled: (text: string) => number
}

/** The most words that a secret is told by: `authorization : Bearer …`. */
const MOST_WORDS = 4
/** The most that can follow the beginning of a private key, and a little more. */
const LONGEST_KEY = 8_400

/**
 * Returns a redactor for common secrets: keys of providers, tokens, private keys, addresses with passwords. For `redact`
 * of a harness or a thread.
 */
export function redactSecrets(options: RedactSecretsOptions = {}): SecretRedactor {
  const { except = [], more = [], replacement = (name: string) => `[redacted: ${name}]` } = options
  const known = [...more, ...SECRET_DETECTORS]
  const missing = except.find((name) => !known.some((detector) => detector.name === name))
  if (missing !== undefined) {
    throw new InspanError('invalid-input', `There is no detector "${missing}".`, {
      hint: `There are: ${known.map(({ name }) => name).join(', ')}.`,
    })
  }
  for (const { name, pattern } of more) {
    if (!pattern.global) throw new InspanError('invalid-input', `The pattern of detector "${name}" needs the flag g.`)
  }
  const used = known.filter(({ name }) => !except.includes(name))
  const redact = (text: string): string => used.reduce((left, detector) => without(left, detector, replacement), text)
  const end = more.length === 0 ? beforeLastWords : (text: string): number => text.lastIndexOf('\n') + 1
  return Object.assign(redact, { settled: (text: string) => outside(text, beforeOpenKey(text, end(text)), used) })
}

/** Returns where the last words begin, which may become a secret by what follows. */
function beforeLastWords(text: string): number {
  let at = text.length
  for (let words = 0; words < MOST_WORDS; words++) {
    at = startOfWord(text, text.slice(0, at).trimEnd().length)
  }
  return at
}

function startOfWord(text: string, end: number): number {
  let at = end
  while (at > 0 && !/\s/.test(text[at - 1] ?? '')) at--
  return at
}

/** Returns the place, or the beginning of the words of the secret that it is in the middle of. */
function outside(text: string, place: number, detectors: readonly SecretDetector[]): number {
  let at = place
  for (const { pattern } of detectors) {
    for (const { 0: match, index } of text.matchAll(pattern)) {
      if (index < at && index + match.length > at) at = startOfWord(text, index)
    }
  }
  return at === place ? at : outside(text, at, detectors)
}

/** Returns the end of what is settled, or the beginning of a key block that is not complete before it. */
function beforeOpenKey(text: string, end: number): number {
  const begin = text.lastIndexOf('-----BEGIN ')
  if (begin === -1 || text.length - begin > LONGEST_KEY) return end
  const close = text.indexOf('-----END ', begin)
  const last = close === -1 ? -1 : text.indexOf('-----', close + '-----END '.length)
  return last !== -1 && last + '-----'.length <= end ? end : startOfWord(text, Math.min(begin, end))
}

function without(text: string, { name, pattern }: SecretDetector, replacement: (name: string) => string): string {
  return text.replace(pattern, (match: string, ...rest: unknown[]) => {
    const groups = rest.at(-1)
    const secret = typeof groups === 'object' && groups !== null ? (groups as { secret?: string }).secret : undefined
    if (MARK.test(secret ?? match) || secret?.startsWith('[redacted:') === true) return match
    if (secret === undefined) return replacement(name)
    const at = match.lastIndexOf(secret)
    return match.slice(0, at) + replacement(name) + match.slice(at + secret.length)
  })
}
