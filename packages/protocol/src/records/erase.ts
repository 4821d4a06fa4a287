import { eraseSettings } from '../content-settings.ts'
import type { BatchEvent, ConfigChangedRecord, PartAddress } from '../control-record.ts'
import type { Part } from '../message.ts'
import type { WaitRequest } from '../wait.ts'

/** The mark of erased content. */
export const ERASED: { readonly erased: true } = { erased: true }

type Erased<Kept> = Kept & { readonly meta: typeof ERASED }

/** Returns what is left of every part: where it is. */
export function eraseAddress({ messageId, partId }: PartAddress): Erased<PartAddress> {
  return { messageId, partId, meta: ERASED }
}

type ErasedCall = PartAddress & { readonly toolCallId: string; readonly toolName: string }

/** Returns what is left of a call and of its result: which call it was. */
export function eraseCall(body: ErasedCall): Erased<ErasedCall> {
  return { ...eraseAddress(body), toolCallId: body.toolCallId, toolName: body.toolName }
}

export function withoutError<Body extends { readonly error?: unknown }>(body: Body): Omit<Body, 'error'> {
  const { error: _error, ...rest } = body
  return rest
}

/** Title, goal and the user's state are content; of the state only the names of its keys are left. */
export function eraseConfig({ title, goal, settings, state, ...rest }: ConfigChangedRecord): ConfigChangedRecord {
  return {
    ...rest,
    ...(title === undefined ? {} : { title: null }),
    ...(goal === undefined ? {} : { goal: null }),
    ...(settings === undefined ? {} : { settings: eraseSettings(settings) }),
    ...(state === undefined ? {} : { state: Object.fromEntries(Object.keys(state).map((key) => [key, null])) }),
  }
}

export function eraseBatch(event: BatchEvent): BatchEvent {
  const address = { messageId: event.messageId, partId: event.partId, meta: ERASED }
  switch (event.type) {
    case 'text-delta':
    case 'reasoning-delta':
      return { ...address, type: event.type, text: '' }
    case 'tool-call-delta':
      return { ...address, type: event.type, toolCallId: event.toolCallId, argsTextDelta: '' }
    case 'tool-progress':
      return { ...address, type: event.type, toolCallId: event.toolCallId, toolName: event.toolName }
  }
}

export function erasePart(part: Part): Part {
  return { id: part.id, type: 'text', text: '', meta: ERASED }
}

export function eraseWait({ id, interrupted, kind, subject }: WaitRequest): WaitRequest {
  return {
    id,
    kind,
    description: '',
    subject: {
      ...(subject.hash === undefined ? {} : { hash: subject.hash }),
      ...(subject.judgedAs === undefined ? {} : { judgedAs: subject.judgedAs }),
    },
    ...(interrupted === undefined ? {} : { interrupted }),
  }
}
