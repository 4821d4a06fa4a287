import type { JsonObject } from './json.ts'

/** Prefix of settings that hold one notification each, sent to a thread. */
export const NOTIFICATION_SETTING = 'harness:notification:'

/** Prefix of settings that note what a model was told last about something that changes. */
export const STATE_SIGNAL_SETTING = 'harness:state:'

/** The setting that holds what the last rewind of files changed or, as a dry run, would change. */
export const REWIND_SETTING = 'rewind'

/** True for settings that are the harness's own notes, which clients do not see. */
export function isPrivateSetting(key: string): boolean {
  return key.startsWith(NOTIFICATION_SETTING) || key.startsWith(STATE_SIGNAL_SETTING)
}

/** True for settings that hold content. They go with the records that set them; other settings outlive an erasure. */
export function isContentSetting(key: string): boolean {
  return key === REWIND_SETTING || isPrivateSetting(key)
}

/** Returns the settings as an erased record holds them. `null` removes a content setting, even one set before. */
export function eraseSettings(settings: JsonObject): JsonObject {
  return Object.fromEntries(Object.entries(settings).map(([key, value]) => [key, isContentSetting(key) ? null : value]))
}

export function withoutContent(settings: JsonObject): JsonObject {
  return Object.fromEntries(Object.entries(settings).filter(([key]) => !isContentSetting(key)))
}
