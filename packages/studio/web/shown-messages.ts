import type { StoredMessage } from '@inspan/protocol'
import { emptyHead, storedHead, viewFrom } from '@inspan/protocol/log'
import { toHarnessState, type WireMessage } from '@inspan/protocol/wire'

/** Returns stored messages as the page shows them. */
export function shownMessages(messages: readonly StoredMessage[]): readonly WireMessage[] {
  return toHarnessState(viewFrom({ seq: 0, head: storedHead(emptyHead('')), messages })).messages
}
