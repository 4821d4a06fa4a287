import type { JsonObject, NativeRef } from '@inspan/protocol'
import type { Mutable } from '../kit/event-parts.ts'
import { asText } from '../kit/fields.ts'
import type { TextPlace } from '../kit/mapper.ts'

export function placeOf(part: JsonObject, session: string | undefined): TextPlace {
  return { partId: asText(part['id']), parent: parentOf(part, session), native: nativeOf(part) }
}

/** Returns the session of a subagent's part, `undefined` if the part belongs to the record's own session. */
export function parentOf(part: JsonObject, session: string | undefined): string | undefined {
  const owner = asText(part['sessionID'])
  return session === undefined || owner === session ? undefined : owner
}

export function nativeOf(part: JsonObject): NativeRef | undefined {
  const sessionId = asText(part['sessionID'])
  const messageId = asText(part['messageID'])
  if (sessionId === undefined && messageId === undefined) return undefined
  const itemId = asText(part['id'])
  if (sessionId !== undefined && messageId !== undefined && itemId !== undefined)
    return { sessionId, messageId, itemId }
  const native: Mutable<NativeRef> = {}
  if (sessionId !== undefined) native.sessionId = sessionId
  if (messageId !== undefined) native.messageId = messageId
  if (itemId !== undefined) native.itemId = itemId
  return native
}
