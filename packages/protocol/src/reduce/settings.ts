import { isContentSetting } from '../content-settings.ts'
import type { JsonObject } from '../json.ts'
import { Keyed } from '../keyed.ts'
import { removeHeadEntry, setHeadEntry, type Draft } from './draft.ts'
import type { RecordContext } from './reduce.ts'

/** `null` removes a setting. The seq of a content setting is noted, because erasing its record removes it. */
export function applySettings(draft: Draft, changes: JsonObject, { seq }: RecordContext): void {
  for (const [key, value] of Object.entries(changes)) {
    if (value === null) {
      removeHeadEntry(draft, 'settings', key)
      removeHeadEntry(draft, 'settingsAt', key)
    } else {
      setHeadEntry(draft, 'settings', key, value)
      if (isContentSetting(key)) setHeadEntry(draft, 'settingsAt', key, seq)
    }
  }
}

/** Settings that a fork inherits count as set by the fork record. */
export function inheritedAt(settings: JsonObject, { seq }: RecordContext): Keyed<number> {
  return Keyed.from(
    Object.keys(settings)
      .filter(isContentSetting)
      .map((key) => [key, seq] as const),
  )
}

/** Removes the keys that erased records had set. */
export function eraseKeys(
  draft: Draft,
  what: 'settings' | 'state',
  places: 'settingsAt' | 'stateAt',
  isErased: (seq: number) => boolean,
): void {
  for (const [key, seq] of draft.head[places].entries()) {
    if (!isErased(seq)) continue
    removeHeadEntry(draft, what, key)
    removeHeadEntry(draft, places, key)
  }
}
