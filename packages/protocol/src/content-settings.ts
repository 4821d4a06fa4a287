import type { JsonObject } from './json.ts'

/** Settings that hold what somebody said, one each: notifications that were sent to a thread. */
export const NOTIFICATION_SETTING = 'evener:notification:'

/** Settings that note what a model was told last about something that changes. */
export const STATE_SIGNAL_SETTING = 'evener:state:'

/** Other settings configure a thread and outlive an erasure; these go with the records that set them. */
export function isContentSetting(key: string): boolean {
  return key.startsWith(NOTIFICATION_SETTING) || key.startsWith(STATE_SIGNAL_SETTING)
}

/** As an erased record holds them: `null` takes a setting away, also when it is set once more. */
export function eraseSettings(settings: JsonObject): JsonObject {
  return Object.fromEntries(Object.entries(settings).map(([key, value]) => [key, isContentSetting(key) ? null : value]))
}

export function withoutContent(settings: JsonObject): JsonObject {
  return Object.fromEntries(Object.entries(settings).filter(([key]) => !isContentSetting(key)))
}
