/** How providers say that a request is longer than the context window. */
const OVERFLOWS = [
  /context[_ ]length[_ ]exceeded/i,
  /model_context_window_exceeded/i,
  /(prompt|input|request) is too (long|large)/i,
  /max(imum)? (context|prompt|input) length/i,
  /(exceed\w*|fit|beyond|larger than|over)\b[^.]*\bcontext (window|size|length|limit)/i,
  /context (window|size|length|limit)[^.]*\bexceed/i,
  /input token count[^.]*exceeds/i,
  /exceeds? (the )?maximum (number of|allowed) (input )?tokens/i,
  /reduce the length of (the|your) (messages|prompt|input)/i,
  /request_too_large/i,
  /input length and `?max_tokens`? exceed/i,
] as const

/** Where they name the size of the window. */
const WINDOWS = [
  /max(?:imum)? (?:context|prompt|input) length (?:is|of)\D{0,3}(\d[\d,_]*)/i,
  /> ?(\d[\d,_]*) ?(?:tokens )?maximum/i,
  /tokens allowed \((\d[\d,_]*)\)/i,
  /context (?:window|size|limit)(?: is| of)?\D{0,3}(\d[\d,_]*)/i,
  /(\d[\d,_]*) maximum context length/i,
] as const

/** How much of a provider's answer is looked through. */
const MOST_CHARS = 4000

export interface ContextOverflow {
  /** The size of the window in tokens, if the provider named it. */
  readonly window?: number
}

/** Returns whether a provider refused a request as too long. A rate limit, which also counts tokens, is something else. */
export function overflowOf(status: number | undefined, ...said: readonly unknown[]): ContextOverflow | undefined {
  if (status === 429 || status === 401 || status === 403) return undefined
  const text = said.flatMap((each) => (typeof each === 'string' ? [each.slice(0, MOST_CHARS)] : [])).join('\n')
  if (!OVERFLOWS.some((pattern) => pattern.test(text))) return undefined
  for (const pattern of WINDOWS) {
    const window = Number((pattern.exec(text)?.[1] ?? '').replaceAll(/[,_]/g, ''))
    if (window >= 256) return { window }
  }
  return {}
}
