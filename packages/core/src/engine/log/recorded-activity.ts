import type { ActivityNote } from '@inspan/protocol'
import type { RecordBody } from '@inspan/protocol/log'

/** Returns what a record says an agent did: on a sealed part, or as a note that stands for nothing else. */
export function recordedActivity(body: RecordBody): ActivityNote | undefined {
  if (body.type === 'note') return body.data?.['activity'] as ActivityNote | undefined
  return 'activity' in body ? body.activity : undefined
}
