import type { HarnessEvent, JsonValue, NoteRecord } from '@evener/protocol'

/** What a note tells those who look on; `undefined` for what is kept only for later. */
export function noteEvent({ data, kind, text }: NoteRecord): HarnessEvent | undefined {
  switch (kind) {
    case 'policy-violation':
      return { type: 'error', error: new Error(text), errorType: kind }
    case 'warning':
    case 'handover':
    case 'budget':
      return { type: 'info', message: text }
    case 'info':
      // Activity of a foreign program has its own projection.
      if (data?.['activity'] !== undefined) return undefined
      return { type: 'info', message: text, ...steered(data?.['steer']) }
    case 'receipt':
      return undefined
  }
}

/** How a program took what was said to it while it worked. */
function steered(how: JsonValue | undefined): { steered?: 'injected' | 'restarted' } {
  if (how === undefined) return {}
  return { steered: how === 'restart' ? 'restarted' : 'injected' }
}
