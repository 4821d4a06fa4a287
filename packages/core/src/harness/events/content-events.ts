import type { Part } from '@inspan/protocol'
import { toHarnessContent, type ContentAddress, type ContentEvent } from '@inspan/protocol/harness'

/** Returns the event for a whole part of a message; `undefined` while there is nothing to show of it. */
export function contentEvent(part: Part, address: ContentAddress): ContentEvent | undefined {
  const content = toHarnessContent(part)
  if (content === undefined) return undefined
  switch (content.type) {
    // Memory reports its work in events of its own, which say more.
    case 'om_observation_start':
    case 'om_observation_end':
    case 'om_observation_failed':
    case 'om_thread_title_updated':
    case 'compaction':
      return undefined
    default:
      return { ...content, ...address }
  }
}
