import {
  InspanError,
  type EventMeta,
  type JsonObject,
  type JsonValue,
  type Part,
  type SignalKind,
} from '@inspan/protocol'
import { defined } from '@inspan/protocol/internal'
import { toWire } from '@inspan/protocol/wire'
import { filePart, type MessageFile } from '../runs/message-files.ts'
import { signalXml, type SignalAttributes } from './signal-xml.ts'

export type SignalType = 'user' | 'state' | 'reactive' | 'notification' | 'user-message' | 'system-reminder'

export type SignalContents =
  | string
  | readonly ({ readonly type: 'text'; readonly text: string } | ({ readonly type: 'file' } & MessageFile))[]

/** A signal that an application sends to a thread. `user-message` and `system-reminder` are older names. */
export interface Signal {
  readonly id?: string
  readonly type: SignalType
  /** The element's name in what the model reads. Default: derived from the type. */
  readonly tagName?: string
  readonly contents: SignalContents
  readonly attributes?: SignalAttributes
  readonly metadata?: JsonObject
  readonly providerOptions?: JsonObject
}

export const SIGNAL_TYPES: readonly SignalType[] = [
  'user',
  'state',
  'reactive',
  'notification',
  'user-message',
  'system-reminder',
]

/** How a signal that is not the user's is marked, and the element that the model reads. */
const MARKS: Readonly<Record<Exclude<SignalType, 'user' | 'user-message'>, { kind: SignalKind; tagName: string }>> = {
  state: { kind: 'state_signal', tagName: 'state' },
  reactive: { kind: 'reactive_signal', tagName: 'signal' },
  notification: { kind: 'notification', tagName: 'notification' },
  'system-reminder': { kind: 'system_reminder', tagName: 'system-reminder' },
}

/** Returns the parts of a signal. A user's words become plain text; everything else is marked with its kind. */
export function signalParts(signal: Signal, id: string): readonly Part[] {
  const { contents, attributes, metadata, providerOptions, type } = signal
  const meta: { meta?: EventMeta } =
    providerOptions === undefined ? {} : { meta: { provider: toWire(providerOptions) } }
  if (type === 'user' || type === 'user-message') {
    return pieces(contents).map((piece, index): Part => {
      // Metadata of the message is kept with its first part: a message that waits in the queue is nothing but its
      // parts.
      const about = index === 0 ? { ...meta.meta, ...toWire(defined({ attributes, metadata })) } : { ...meta.meta }
      const more = Object.keys(about).length === 0 ? {} : { meta: about }
      if (piece.type === 'text') return { id: String(index), type: 'text', text: piece.text, ...more }
      return { ...filePart(piece), id: String(index), ...more }
    })
  }
  const message = plainText(contents, type)
  const { kind, tagName: byType } = MARKS[type]
  const tagName = signal.tagName ?? byType
  // A copy, so that later changes by the sender have no effect.
  const data: JsonObject = toWire({
    ...(type === 'system-reminder' ? reminderFacts(attributes) : {}),
    ...metadata,
    id,
    message,
    ...(type === 'state' ? { stateId: tagName, mode: 'snapshot' } : { tagName }),
    ...defined({ attributes, metadata }),
  })
  return [{ id: '0', type: 'signal', kind, text: signalXml(tagName, message, attributes), data, ...meta }]
}

/** Returns a signal part of a fixed kind: what the model reads, and what a UI shows. */
export function signalPart(
  kind: SignalKind,
  xml: { readonly tagName: string; readonly message: string; readonly attributes?: SignalAttributes },
  data: Readonly<Record<string, JsonValue>>,
): Part {
  const text = signalXml(xml.tagName, xml.message, xml.attributes)
  return { id: '0', type: 'signal', kind, text, data: toWire({ ...data, message: xml.message }) }
}

/** What a reminder is about may also be in its attributes: `type`, as the model reads it, or the name a UI uses. */
function reminderFacts(attributes: SignalAttributes = {}): SignalAttributes {
  const { path, reminderType = attributes['type'] } = attributes
  return defined({ reminderType, path })
}

function pieces(contents: SignalContents): Exclude<SignalContents, string> {
  return typeof contents === 'string' ? [{ type: 'text', text: contents }] : contents
}

function plainText(contents: SignalContents, type: SignalType): string {
  return pieces(contents)
    .map((piece) => {
      if (piece.type === 'text') return piece.text
      throw new InspanError('unsupported', `A signal of type "${type}" takes text only; files go with type "user".`)
    })
    .join('\n')
}
