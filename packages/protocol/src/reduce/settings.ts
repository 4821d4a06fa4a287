import { isContentSetting } from '../content-settings.ts'
import type { JsonObject } from '../json.ts'
import { Keyed } from '../keyed.ts'
import { removeHeadEntry, setHeadEntry, type Draft } from './draft.ts'
import type { RecordContext } from './reduce.ts'

/** `null` takes a setting away. Which record said what is noted: it goes with the record. */
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

/** What a fork inherits is said by the fork. */
export function inheritedAt(settings: JsonObject, { seq }: RecordContext): Keyed<number> {
  return Keyed.from(
    Object.keys(settings)
      .filter(isContentSetting)
      .map((key) => [key, seq] as const),
  )
}

/** What erased records had set is no longer set. */
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
