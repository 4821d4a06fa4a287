import type { BareRule } from './fallback.ts'
import type { Finding, Piece } from './judgement.ts'
import type { Explained, RuleLevel } from './policy-types.ts'

const LONGEST_PART = 120

const LEVELS: Readonly<Record<RuleLevel, string>> = {
  harness: 'the harness',
  session: 'the session',
  thread: 'the thread',
  run: 'this run',
}

export function sayDenied(found: Finding): Explained {
  return { ...from(found), policy: 'deny', step: 'deny', reason: `${show(found.part)} is denied by ${rule(found)}` }
}

export function sayDoubtful(found: Finding, pieces: readonly Piece[]): Explained {
  const why = found.why ?? pieces.find(({ part, obscure }) => obscure !== null && part === found.part)?.obscure ?? null
  const because = why === null ? '' : `: ${inOneLine(why)}`
  const reason = `whether ${rule(found)} denies ${show(found.part)} cannot be told before it runs${because}`
  return { ...from(found), policy: 'ask', step: 'unreadable', reason }
}

export function sayAsked(found: Finding): Explained {
  return {
    ...from(found),
    policy: 'ask',
    step: 'pattern',
    reason: `${rule(found)} wants to be asked about ${show(found.part)}`,
  }
}

export function sayAllowed(found: Finding): Explained {
  return {
    ...from(found),
    policy: 'allow',
    step: 'pattern',
    reason: `${show(found.part)} is allowed by ${rule(found)}`,
  }
}

export function sayObscure(part: string, why: string): Explained {
  return {
    policy: 'ask',
    step: 'unreadable',
    part,
    reason: `${show(part)} is allowed by no rule because ${inOneLine(why)}`,
  }
}

/** Explains a rule about a whole tool or category, or that there is none. */
export function sayBare(bare: BareRule, toolName: string, judged: Piece | null): Explained {
  const { level, policy, step } = bare
  const part = judged === null || judged.part === toolName ? undefined : judged.part
  const what = show(part ?? toolName)
  const near = judged?.near === null || judged === null || policy === 'allow' ? '' : `, and ${inOneLine(judged.near)}`
  return {
    policy,
    step,
    ...(bare.rule === undefined ? {} : { rule: bare.rule }),
    ...(bare.about === undefined ? {} : { about: bare.about }),
    ...(level === undefined ? {} : { level }),
    ...(part === undefined ? {} : { part }),
    reason: `${bareReason(bare, what)}${near}`,
  }
}

function bareReason({ level, policy, rule: name, step }: BareRule, what: string): string {
  if (step === 'grant') return `${what} is allowed by ${show(name ?? step)}`
  if (name === undefined || level === undefined) return `no rule allows ${what}`
  const by = `the rule ${show(name)} of ${LEVELS[level]}`
  if (policy === 'ask') return `${by} wants to be asked about ${what}`
  return `${what} is ${policy === 'deny' ? 'denied' : 'allowed'} by ${by}`
}

function from({ about, level, part, rule: name }: Finding): Pick<Explained, 'about' | 'level' | 'part' | 'rule'> {
  return { level, part, rule: name, about }
}

function rule({ level, rule: name }: Finding): string {
  return `the rule ${show(name)} of ${LEVELS[level]}`
}

function show(part: string): string {
  return `\`${inOneLine(part)}\``
}

/** Shortens a text, and removes characters that would change how the sentence looks. */
export function inOneLine(text: string): string {
  const line = text
    .replace(/[\p{Cc}\p{Zl}\p{Zp}]+/gu, ' ')
    .replace(/[\p{Cf}\p{Cs}]/gu, '?')
    .trim()
  // Cut between code points, never inside one.
  const kept = Array.from(line).slice(0, LONGEST_PART).join('')
  return kept === line ? line : `${kept}…`
}
