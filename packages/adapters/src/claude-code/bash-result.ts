import type { JsonValue } from '@inspan/protocol'
import { asArray, asObject } from '../kit/fields.ts'

const PREFIX = 'Exit code '

/**
 * Returns the exit code of a failed command. It is found only in prose: Claude Code itself writes `Exit code N` as the
 * first line of a failed result, before any output.
 */
export function exitCodeOf(content: JsonValue | undefined): number | undefined {
  const text = firstTextOf(content)
  if (text === undefined || !text.startsWith(PREFIX)) return undefined
  const newline = text.indexOf('\n')
  const digits = text.slice(PREFIX.length, newline === -1 ? Math.min(text.length, PREFIX.length + 12) : newline)
  const code = /^\d{1,10}$/.test(digits.trim()) ? Number(digits) : Number.NaN
  return Number.isSafeInteger(code) ? code : undefined
}

function firstTextOf(content: JsonValue | undefined): string | undefined {
  if (typeof content === 'string') return content
  const text = asObject(asArray(content)?.[0])?.['text']
  return typeof text === 'string' ? text : undefined
}
