/** What the result of a subagent says about its run. */
export interface SubagentMeta {
  /** The result without the tag. */
  readonly text: string
  readonly modelId?: string
  readonly durationMs?: number
  readonly toolCalls?: readonly { readonly name: string; readonly isError: boolean }[]
}

const TAG = /\n<subagent-meta((?: \w+="[^"]*")*) ?\/>\s*$/

/**
 * Reads the tag that other harnesses put at the end of a subagent's result, for threads that come from there. Our own
 * results have none: `subagent_end` says what a subagent did.
 */
export function parseSubagentMeta(content: string): SubagentMeta {
  const tag = TAG.exec(content)
  if (tag === null) return { text: content }
  const fields = new Map([...(tag[1] ?? '').matchAll(/ (\w+)="([^"]*)"/g)].map(([, name, value]) => [name, value]))
  const modelId = fields.get('modelId')
  const durationMs = Number(fields.get('durationMs') ?? Number.NaN)
  const tools = fields.get('tools')
  return {
    text: content.slice(0, tag.index),
    ...(modelId === undefined ? {} : { modelId }),
    ...(Number.isFinite(durationMs) ? { durationMs } : {}),
    ...(tools === undefined ? {} : { toolCalls: tools.split(',').filter(Boolean).map(toolCall) }),
  }
}

/** Names may contain colons; the status follows the last one. */
function toolCall(entry: string): { readonly name: string; readonly isError: boolean } {
  const colon = entry.lastIndexOf(':')
  return colon < 0
    ? { name: entry, isError: false }
    : { name: entry.slice(0, colon), isError: entry.slice(colon + 1) === 'err' }
}
