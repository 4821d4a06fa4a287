import { InspanError } from '@inspan/protocol'
import { SECRET_DETECTORS, type SecretDetector } from './detectors.ts'

export interface RedactSecretsOptions {
  /** Names of detectors to leave out. */
  readonly except?: readonly string[]
  /** More detectors, tried first. */
  readonly more?: readonly SecretDetector[]
  /** What takes the place of a secret. Default: `[redacted: <name>]`. */
  readonly replacement?: (name: string) => string
}

/** How a removed secret is marked. What is marked is not looked at again. */
const MARK = /\[redacted: [a-z-]+\]/

/**
 * Returns a redactor for common secrets: keys of providers, tokens, private keys, addresses with passwords. For `redact`
 * of a harness or a thread.
 */
export function redactSecrets(options: RedactSecretsOptions = {}): (text: string) => string {
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
  return (text) => used.reduce((left, detector) => without(left, detector, replacement), text)
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
