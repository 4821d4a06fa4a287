import { InspanError } from '@inspan/protocol'
import type { BatchEvent } from '@inspan/protocol/log'

/** The unwritten text of a part. Its pieces are joined only when they are needed. */
export interface PendingBatch {
  readonly seq: number
  readonly first: BatchEvent
  more: string
}

export function wholeOf({ first, more }: PendingBatch): BatchEvent {
  if (more === '') return first
  switch (first.type) {
    case 'tool-call-delta':
      return { ...first, argsTextDelta: first.argsTextDelta + more }
    case 'tool-progress':
      return { ...first, output: (first.output ?? '') + more }
    case 'text-delta':
    case 'reasoning-delta':
      return { ...first, text: first.text + more }
  }
}

export function textOf(event: BatchEvent): string {
  if (event.type === 'tool-call-delta') return event.argsTextDelta
  return event.type === 'tool-progress' ? (event.output ?? '') : event.text
}

export function mixedPart(earlier: BatchEvent, later: BatchEvent): InspanError {
  const part = `${later.messageId}/${later.partId}`
  return new InspanError('misuse', `Part ${part} got a "${later.type}" after "${earlier.type}".`)
}

export function partKey(messageId: string, partId: string): string {
  return `${partId}/${messageId}`
}
