import type { HarnessEvent, NoteRecord } from '@evener/protocol'

/** What a note tells those who look on; `undefined` for what is kept only for later. */
export function noteEvent({ data, kind, text }: NoteRecord): HarnessEvent | undefined {
  switch (kind) {
    case 'policy-violation':
      return { type: 'error', error: new Error(text), errorType: kind }
    case 'warning':
    case 'handover':
      return { type: 'info', message: text }
    case 'info':
      // Activity of a foreign program has its own projection.
      return data?.['activity'] === undefined ? { type: 'info', message: text } : undefined
    case 'receipt':
      return undefined
  }
}
