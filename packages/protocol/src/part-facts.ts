import type { BlobRef } from './blob.ts'
import type { ErrorData } from './error-data.ts'
import type { JsonValue } from './json.ts'
import type { Part, ToolCallPart, ToolResultPart } from './message.ts'

/** True for the placeholder of a part whose records come later: it has nothing to show yet. */
export function isPlaceholder(part: Part): boolean {
  return part.type === 'text' && part.state === 'open' && part.text.length === 0
}

/** False while the input streams in, and forever if it was cut off: `args` is meaningless then. */
export function hasArgs(part: ToolCallPart): boolean {
  return part.inputText === undefined
}

export interface SettledResult {
  readonly result: JsonValue
  readonly isError: boolean
  readonly error?: ErrorData
  readonly resultRef?: BlobRef
}

/**
 * Returns the result of a call, or `undefined` while the tool runs: live output is no result. A tool that was cut off
 * has failed, with what it printed until then as its result. A result kept as a blob gives its beginning.
 */
export function settledResult(part: ToolResultPart): SettledResult | undefined {
  if (part.state === 'open') return undefined
  return {
    result: part.result ?? part.resultRef?.preview ?? part.output ?? null,
    isError: part.isError ?? part.state === 'interrupted',
    ...(part.error === undefined ? {} : { error: part.error }),
    ...(part.resultRef === undefined ? {} : { resultRef: part.resultRef }),
  }
}
