import type { JsonValue } from '@evener/protocol'
import { asArray, asObject } from '../kit/fields.ts'

const PREFIX = 'Exit code '

/**
 * The exit code of a failed command. It stands only in prose: the first line of a failed result is `Exit code N`, written
 * by Claude Code itself before any output.
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
