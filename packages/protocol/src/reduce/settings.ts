import { isContentSetting } from '../content-settings.ts'
import type { JsonObject } from '../json.ts'
import { setHead, type Draft } from './draft.ts'
import type { RecordContext } from './reduce.ts'

/** `null` takes a setting away. Which record said what is noted: it goes with the record. */
export function applySettings(draft: Draft, changes: JsonObject, record: RecordContext): void {
  setHead(draft, 'settings', mergeSettings(draft.head.settings, changes))
  const said = Object.keys(changes).filter(isContentSetting)
  if (said.length === 0) return
  const places = Object.entries({ ...draft.head.settingsAt, ...setAt(said, record) })
  setHead(draft, 'settingsAt', Object.fromEntries(places.filter(([key]) => changes[key] !== null)))
}

/** What a fork inherits is said by the fork. */
export function inheritedAt(settings: JsonObject, record: RecordContext): { readonly [key: string]: number } {
  return setAt(Object.keys(settings).filter(isContentSetting), record)
}

export function setAt(keys: readonly string[], { seq }: RecordContext): { readonly [key: string]: number } {
  return Object.fromEntries(keys.map((key) => [key, seq]))
}

/** What erased records had set is no longer set. */
export function eraseKeys(
  draft: Draft,
  what: 'settings' | 'state',
  places: 'settingsAt' | 'stateAt',
  isErased: (seq: number) => boolean,
): void {
  const gone = new Set(Object.entries(draft.head[places]).flatMap(([key, seq]) => (isErased(seq) ? [key] : [])))
  if (gone.size === 0) return
  setHead(draft, what, without(draft.head[what], gone))
  setHead(draft, places, without(draft.head[places], gone))
}

function mergeSettings(settings: JsonObject, changes: JsonObject): JsonObject {
  return Object.fromEntries(Object.entries({ ...settings, ...changes }).filter(([, value]) => value !== null))
}

function without<T>(map: { readonly [key: string]: T }, gone: ReadonlySet<string>): { readonly [key: string]: T } {
  return Object.fromEntries(Object.entries(map).filter(([key]) => !gone.has(key)))
}
