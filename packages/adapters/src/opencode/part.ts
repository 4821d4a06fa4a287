import type { JsonObject, NativeRef } from '@evener/protocol'
import type { Mutable } from '../kit/event-parts.ts'
import { asText } from '../kit/fields.ts'
import type { Place } from '../kit/mapper.ts'

export function placeOf(part: JsonObject, session: string | undefined): Place {
  const place: Mutable<Place> = {}
  const partId = asText(part['id'])
  const parent = parentOf(part, session)
  const native = nativeOf(part)
  if (partId !== undefined) place.partId = partId
  if (parent !== undefined) place.parent = parent
  if (native !== undefined) place.native = native
  return place
}

/** Whose part it is, where that is another session than the record's: a subagent's. */
export function parentOf(part: JsonObject, session: string | undefined): string | undefined {
  const owner = asText(part['sessionID'])
  return session === undefined || owner === session ? undefined : owner
}

export function nativeOf(part: JsonObject): NativeRef | undefined {
  const sessionId = asText(part['sessionID'])
  const messageId = asText(part['messageID'])
  if (sessionId === undefined && messageId === undefined) return undefined
  const native: Mutable<NativeRef> = {}
  const itemId = asText(part['id'])
  if (sessionId !== undefined) native.sessionId = sessionId
  if (messageId !== undefined) native.messageId = messageId
  if (itemId !== undefined) native.itemId = itemId
  return native
}
