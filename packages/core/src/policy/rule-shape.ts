import { InspanError } from '@inspan/protocol'

const KEYS = ['categories', 'tools', 'patterns']
const RULE_KEYS = ['tool', 'pattern', 'policy', 'match', 'notMatch']

/** Checks the shape of rules, which often come from a file without type checks. Throws where they are malformed. */
export function checkShape(rules: unknown): void {
  if (!isObject(rules)) throw misshapen('rules are an object with categories, tools and patterns', rules)
  for (const key of ['categories', 'tools']) {
    if (!isObject(rules[key])) throw misshapen(`\`${key}\` says a policy for each name`, rules[key])
  }
  const unknownKey = unknownKeyIn(rules, KEYS)
  // Shows only the unknown key: a harness has added rules of its own to the given ones.
  if (unknownKey !== undefined)
    throw misshapen(unknownKeyMessage('rules have', KEYS, unknownKey), { [unknownKey]: rules[unknownKey] })
  const { patterns } = rules
  if (!Array.isArray(patterns)) throw misshapen('`patterns` is a list of rules', patterns)
  for (const rule of patterns as readonly unknown[]) checkRule(rule)
}

function checkRule(rule: unknown): void {
  if (!isObject(rule)) throw misshapen('a rule is an object with tool, pattern and policy', rule)
  for (const key of ['tool', 'pattern']) {
    if (typeof rule[key] !== 'string') throw misshapen(`\`${key}\` of a rule is a text`, rule)
  }
  for (const key of ['match', 'notMatch']) {
    const examples = rule[key]
    const isList = Array.isArray(examples) && examples.every((example) => typeof example === 'string')
    if (examples !== undefined && !isList) throw misshapen(`\`${key}\` of a rule is a list of texts`, rule)
  }
  const unknownKey = unknownKeyIn(rule, RULE_KEYS)
  if (unknownKey !== undefined) throw misshapen(unknownKeyMessage('a rule has', RULE_KEYS, unknownKey), rule)
}

/** Returns a key that is not known: a misspelt one would be ignored, and what it means would be lost. */
function unknownKeyIn(object: Readonly<Record<string, unknown>>, known: readonly string[]): string | undefined {
  return Object.keys(object).find((key) => !known.includes(key))
}

function unknownKeyMessage(who: string, known: readonly string[], unknownKey: string): string {
  return `${who} ${known.join(', ')} and no \`${unknownKey}\``
}

function isObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

function misshapen(expected: string, found: unknown): InspanError {
  const shown = (JSON.stringify(found) ?? String(found)).slice(0, 200)
  return new InspanError('invalid-input', `These are not permission rules: ${expected}. Found: ${shown}`, {
    details: { expected },
  })
}
