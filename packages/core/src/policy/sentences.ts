import type { Policy } from '@inspan/protocol'
import { defined } from '@inspan/protocol/internal'
import type { BareRule } from './fallback.ts'
import type { Finding, Piece } from './judgement.ts'
import type { Explained, PolicyStep, RuleLevel } from './policy-types.ts'

const LONGEST_PART = 120

const LEVELS: Readonly<Record<RuleLevel, string>> = {
  harness: 'the harness',
  session: 'the session',
  thread: 'the thread',
  run: 'this run',
}

export function sayDenied(found: Finding): Explained {
  return explained(found, 'deny', 'deny', `${show(found.part)} is denied by ${rule(found)}`)
}

export function sayDoubtful(found: Finding, pieces: readonly Piece[]): Explained {
  const why = found.why ?? pieces.find(({ part, obscure }) => obscure !== null && part === found.part)?.obscure ?? null
  const because = why === null ? '' : `: ${inOneLine(why)}`
  const reason = `${rule(found)} may deny ${show(found.part)}, which cannot be known before it runs${because}`
  return explained(found, 'ask', 'unreadable', reason)
}

export function sayAsked(found: Finding): Explained {
  return explained(found, 'ask', 'pattern', `${rule(found)} requires approval for ${show(found.part)}`)
}

export function sayAllowed(found: Finding): Explained {
  return explained(found, 'allow', 'pattern', `${show(found.part)} is allowed by ${rule(found)}`)
}

export function sayObscure(part: string, why: string): Explained {
  const reason = `no rule allows ${show(part)} because ${inOneLine(why)}`
  return { policy: 'ask', step: 'unreadable', part, reason }
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
    ...defined({ rule: bare.rule, about: bare.about, level, part }),
    reason: `${bareReason(bare, what)}${near}`,
  }
}

function bareReason({ level, policy, rule: name, step }: BareRule, what: string): string {
  if (step === 'grant') return `${what} is allowed by ${show(name ?? step)}`
  if (name === undefined || level === undefined) return `no rule allows ${what}`
  const by = `the rule ${show(name)} of ${LEVELS[level]}`
  if (policy === 'ask') return `${by} requires approval for ${what}`
  return `${what} is ${policy === 'deny' ? 'denied' : 'allowed'} by ${by}`
}

function explained(found: Finding, policy: Policy, step: PolicyStep, reason: string): Explained {
  const { about, level, part, rule: name } = found
  return { level, part, rule: name, about, policy, step, reason }
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
