import type { JsonValue } from '@inspan/protocol'
import type { HarnessEvent } from '@inspan/protocol/harness'
import type { NoteRecord } from '@inspan/protocol/log'

/** Returns the event for a note; `undefined` for one that is only kept. */
export function noteEvent({ data, kind, text }: NoteRecord): HarnessEvent | undefined {
  switch (kind) {
    case 'policy-violation':
      return { type: 'error', error: new Error(text), errorType: kind }
    case 'warning':
    case 'handover':
    case 'budget':
      return { type: 'info', message: text }
    case 'info':
      // Activity of a foreign program is projected elsewhere.
      if (data?.['activity'] !== undefined) return undefined
      return { type: 'info', message: text, ...steered(data?.['steer']) }
    case 'receipt':
      return undefined
  }
}

/** How a program took a message that was steered to it. */
function steered(how: JsonValue | undefined): { steered?: 'injected' | 'restarted' } {
  if (how === undefined) return {}
  return { steered: how === 'restart' ? 'restarted' : 'injected' }
}
