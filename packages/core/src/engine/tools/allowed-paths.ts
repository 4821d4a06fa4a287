import type { JsonValue } from '@inspan/protocol'
import type { Head } from '@inspan/protocol/log'

/** The setting of a thread that holds the paths. */
export const ACCESS_SETTING = 'harness:access'

/** Returns the paths outside the workspace that the thread's agents have been given access to. */
export function allowedPaths(head: Pick<Head, 'settings'>): readonly string[] {
  const paths = head.settings.get(ACCESS_SETTING)
  return Array.isArray(paths) ? (paths as readonly JsonValue[]).filter((path) => typeof path === 'string') : []
}
