import type { ActivityNote } from '@inspan/protocol'
import type { RecordBody } from '@inspan/protocol/log'

/** Returns what an agent did according to a record: on a sealed part, or as a note of its own. */
export function recordedActivity(body: RecordBody): ActivityNote | undefined {
  if (body.type === 'note') return body.data?.['activity'] as ActivityNote | undefined
  return 'activity' in body ? body.activity : undefined
}
