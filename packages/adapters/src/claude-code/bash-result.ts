import type { JsonObject, JsonValue } from '@evener/protocol'
import { directoryAfter } from '@evener/shell/read'
import { asArray, asObject, asText } from '../kit/fields.ts'
import type { ToolOutcome } from '../kit/tool-table.ts'

const PREFIX = 'Exit code '
/** The last line of its own remarks when a command has left the directories it may work in. */
const RESET = /(?:^|\n)Shell cwd was reset to (.+)\s*$/

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

/**
 * Where Claude Code goes on after a command: it takes the directory over into everything that follows, its other tools
 * included, if the command has succeeded. Null when that cannot be told; absent: where it was.
 */
export function nextDirectory(
  call: { readonly input: JsonObject },
  outcome: ToolOutcome,
  { cwd }: { readonly cwd: string | undefined },
): string | null | undefined {
  // What commands say on standard error is in the output: this is what Claude Code says itself.
  const reset = RESET.exec(asText(asObject(outcome.detail)?.['stderr']) ?? '')?.[1]
  if (reset !== undefined) return reset
  const command = outcome.isSuccess === true ? asText(call.input['command']) : undefined
  return command === undefined ? undefined : directoryAfter(command, cwd)
}

function firstTextOf(content: JsonValue | undefined): string | undefined {
  if (typeof content === 'string') return content
  const text = asObject(asArray(content)?.[0])?.['text']
  return typeof text === 'string' ? text : undefined
}
