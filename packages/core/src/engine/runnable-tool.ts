import type { HostTool, JsonObject, ToolCategory, ToolOutcome } from '@evener/protocol'

/** A tool that we carry out ourselves. */
export interface RunnableTool extends HostTool {
  readonly category?: ToolCategory
  /** Safe to carry out again after a crash, with the same key. Read-only tools are. */
  readonly isIdempotent?: boolean
  readonly execute: (input: JsonObject, context: ToolRunContext) => Promise<ToolOutcome>
}

export interface ToolRunContext {
  readonly signal: AbortSignal
  /** The same for every attempt at this call. */
  readonly idempotencyKey: string
  readonly progress: (output: string) => void
}

/** What was interrupted may be repeated only where repeating changes nothing. */
export function mayRepeat(tool: RunnableTool): boolean {
  return (
    tool.isIdempotent === true || tool.annotations?.readOnlyHint === true || tool.annotations?.idempotentHint === true
  )
}
