import type { RunnableTool } from '@evener/protocol'

export type { RunnableTool, ToolRunContext } from '@evener/protocol'

/** What was interrupted may be repeated only where repeating changes nothing. */
export function mayRepeat(tool: RunnableTool): boolean {
  return (
    tool.isIdempotent === true || tool.annotations?.readOnlyHint === true || tool.annotations?.idempotentHint === true
  )
}
