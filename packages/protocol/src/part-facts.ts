import type { BlobRef } from './blob.ts'
import type { ErrorData } from './error-data.ts'
import type { JsonValue } from './json.ts'
import type { Part, ToolCallPart, ToolResultPart } from './message.ts'

/** A place that is kept for a part whose own records come later: there is nothing to show yet. */
export function isPlaceholder(part: Part): boolean {
  return part.type === 'text' && part.state === 'open' && part.text.length === 0
}

/** False while the input still streams in, and for good when it was cut off: `args` says nothing then. */
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
 * What came of a call, or `undefined` while the tool still runs: live output is not a result. A tool that was cut off
 * has failed with what it had printed until then; a result kept apart shows its beginning.
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
