import { InspanError } from '@inspan/protocol'
import type { HarnessEvent } from '@inspan/protocol/harness'
import { frozenCopy } from '../../common/frozen.ts'
import { aText } from '@inspan/protocol/internal'
import { givenFields } from '../checks/check-given.ts'

/**
 * Checks an event made outside the harness and returns a frozen copy, so that its maker may go on using the original.
 */
export function outsideEvent(event: HarnessEvent): HarnessEvent {
  givenFields(event, 'emit(event)', { type: aText })
  try {
    return frozenCopy(event)
  } catch (cause) {
    throw new InspanError('invalid-input', `An event of type "${event.type}" refers to itself.`, { cause })
  }
}
