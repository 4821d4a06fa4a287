import type { JsonObject, JsonValue } from './json.ts'

/**
 * Returns what a command has printed, from the result that our own shell tools give their model. Undefined for any other
 * result. People read this; the exit code is in the activity of the call.
 */
export function printedText(result: JsonValue): string | undefined {
  if (typeof result === 'string') return beginningOfPrinted(result)
  if (typeof result !== 'object' || result === null || Array.isArray(result)) return undefined
  const fields = result as JsonObject
  const { exitCode, output, processId, stderr, stdout } = fields
  if (typeof processId === 'string' && typeof output === 'string') return output
  if (exitCode === undefined || typeof stdout !== 'string' || typeof stderr !== 'string') return undefined
  return [stdout, stderr, endOf(fields)].reduce(joined)
}

function endOf({ signal, timedOut, timeout }: JsonObject): string {
  if (timedOut === true) return `Ended after ${JSON.stringify(timeout)} ms, because it took too long.`
  return typeof signal === 'string' ? `Ended by ${signal}.` : ''
}

function joined(left: string, right: string): string {
  return left === '' || right === '' || left.endsWith('\n') ? left + right : `${left}\n${right}`
}

/** A large result is kept apart, and only the beginning of its JSON is at hand. */
function beginningOfPrinted(text: string): string | undefined {
  const [, printed] =
    /^\{"exitCode":(?:\d+|null),"stdout":"((?:[^"\\]|\\(?:u[\da-f]{4}|[^u]))*)(?:\\u?[\da-f]{0,3})?$/i.exec(text) ?? []
  return printed === undefined ? undefined : `${String(JSON.parse(`"${printed}"`))}…`
}
