import type { ActivityEvent, ActivityNote } from './activity.ts'
import type { EventMeta } from './agent-event.ts'
import type { MessageAddedRecord } from './control-record.ts'
import type { ErrorData } from './error-data.ts'
import type { JsonObject, JsonValue } from './json.ts'
import type { Part } from './message.ts'
import { asJson } from './op.ts'
import type { SealedPart } from './record.ts'
import type { TaskItem } from './task.ts'
import type { Answer, WaitKind, WaitRequest } from './wait.ts'

/** Redacts the texts of one record, and knows afterwards whether any was changed. */
export interface Redaction {
  readonly isChanged: boolean
  text(given: string): string
  /** Redacts every string in the value, including object keys. */
  json<Value extends JsonValue>(value: Value): Value
}

/** Returns the kind of a wait of the thread. */
export type KindOf = (waitId: string) => WaitKind | undefined

type PartContent = Pick<SealedPart, 'meta' | 'activity'> & { readonly error?: ErrorData }

/** Redacts a sealed part. `redacted` says that it is not what was said: such arguments must not be acted on. */
export function redactPart<Body extends SealedPart>(body: Body, redaction: Redaction): Body {
  const { meta, activity, error, ...whole }: SealedPart & PartContent = body
  const content = partContent(body, redaction)
  // A signature is only valid for the original text.
  const isSame = body.type !== 'reasoning-delta' || !redaction.isChanged
  const failure = error === undefined ? {} : { error: redactError(error, redaction) }
  const seen = redactDone(activity, redaction)
  const kept = meta === undefined ? undefined : redactMeta(meta, redaction, isSame)
  const marked = redaction.isChanged ? { ...kept, redacted: true as const } : kept
  return {
    ...whole,
    ...content,
    ...failure,
    ...seen,
    ...(marked === undefined ? {} : { meta: marked }),
  } as Body
}

function partContent(body: SealedPart, redaction: Redaction): Partial<SealedPart> {
  switch (body.type) {
    case 'text-delta':
    case 'reasoning-delta':
      return { text: redaction.text(body.text) }
    case 'file':
      return named(body, redaction)
    case 'tool-call':
      return { ...calledAs(body, redaction), args: redaction.json(body.args) }
    case 'tool-result':
      return { ...calledAs(body, redaction), result: redaction.json(body.result) }
  }
}

/** Redacts metadata. Provider data, such as a signature, is kept whole or left out: a changed one is worthless. */
export function redactMeta({ provider, ...meta }: EventMeta, redaction: Redaction, isSame: boolean): EventMeta {
  const redacted = redactJson(meta as JsonObject, redaction)
  if (provider === undefined || !isSame) return redacted
  const wanted = redaction.json(provider)
  return JSON.stringify(wanted) === JSON.stringify(provider) ? { ...redacted, provider } : redacted
}

/** Redacts what was done, not its kind and time, which are ours. */
function redactActivity({ mapper, version, events }: ActivityNote, redaction: Redaction): ActivityNote {
  const redacted = events.map((event): ActivityEvent => {
    const { type, timestamp } = event
    const action = event.type === 'orchestration' ? { action: event.action } : {}
    return { ...redactJson(event, redaction), type, timestamp, ...action } as ActivityEvent
  })
  return { mapper, version, events: redacted }
}

export function redactData(data: JsonObject, redaction: Redaction): JsonObject {
  const { activity, ...rest } = data
  const redacted = redactJson(rest, redaction)
  if (activity === undefined) return redacted
  const note = activity as unknown as ActivityNote
  const isNote = typeof note === 'object' && note !== null && Array.isArray(note.events)
  return { ...redacted, activity: isNote ? asJson(redactActivity(note, redaction)) : redaction.json(activity) }
}

export function redactError({ cause, ...error }: ErrorData, redaction: Redaction): ErrorData {
  return { ...redactJson(error, redaction), ...(cause === undefined ? {} : { cause: redactError(cause, redaction) }) }
}

/** Redacts the values of an object whose keys are ours. */
function redactJson<Value extends object>(value: Value, redaction: Redaction): Value {
  const entries = Object.entries(value as Record<string, JsonValue | undefined>)
  return Object.fromEntries(
    entries.map(([key, each]) => [key, each === undefined ? undefined : redaction.json(each)]),
  ) as Value
}

export function redactWait(wait: WaitRequest, redaction: Redaction): WaitRequest {
  const { answerSchema, payload, preconditions, subject } = wait
  return {
    ...wait,
    description: redaction.text(wait.description),
    subject: {
      ...subject,
      ...(subject.toolCallId === undefined ? {} : { toolCallId: redaction.text(subject.toolCallId) }),
      ...(subject.toolName === undefined ? {} : { toolName: redaction.text(subject.toolName) }),
      ...(subject.args === undefined ? {} : { args: redaction.json(subject.args) }),
    },
    ...(payload === undefined ? {} : { payload: redaction.json(payload) }),
    ...(answerSchema === undefined ? {} : { answerSchema: redactSchema(answerSchema, redaction) }),
    ...(preconditions === undefined ? {} : { preconditions: redaction.json(preconditions) }),
  }
}

/** Redacts a JSON schema string by string, so that it stays a schema. */
function redactSchema(schema: string, redaction: Redaction): string {
  try {
    const parsed = JSON.parse(schema) as JsonValue
    const redacted = redaction.json(parsed)
    return JSON.stringify(redacted) === JSON.stringify(parsed) ? schema : JSON.stringify(redacted)
  } catch {
    return redaction.text(schema)
  }
}

/** Redacts what agents said elsewhere and what we say in their place. Users' messages are their own words. */
export function redactMessage(body: MessageAddedRecord, redaction: Redaction): MessageAddedRecord {
  const isOfAgent = body.role === 'assistant' || body.role === 'tool' || body.meta?.synthetic === true
  const parts = body.parts.map((part) => {
    const isReminder = part.type === 'signal' && (part.kind === 'system_reminder' || part.kind === 'state_signal')
    return isOfAgent || isReminder ? redactAddedPart(part, redaction) : part
  })
  const meta = isOfAgent && body.meta !== undefined ? { meta: redactMeta(body.meta, redaction, true) } : {}
  return { ...body, parts, ...meta }
}

/** Redacts a part like one that was said here: its metadata too, and with the flag. */
export function redactAddedPart(part: Part, redaction: Redaction): Part {
  const content = addedContent(part, redaction)
  // A signature is only valid for the original text.
  const isSameText = content.type !== 'reasoning' || isSame(content, part)
  const redacted =
    part.meta === undefined ? content : { ...content, meta: redactMeta(part.meta, redaction, isSameText) }
  if (isSame(redacted, part)) return part
  return { ...redacted, meta: { ...redacted.meta, redacted: true } }
}

function addedContent(part: Part, redaction: Redaction): Part {
  switch (part.type) {
    case 'text':
    case 'reasoning':
      return { ...part, text: redaction.text(part.text) }
    case 'tool-call':
      return {
        ...part,
        ...calledAs(part, redaction),
        args: redaction.json(part.args),
        ...redactDone(part.activity, redaction),
      }
    case 'tool-result':
      return {
        ...part,
        ...calledAs(part, redaction),
        result: redaction.json(part.result),
        ...(part.error === undefined ? {} : { error: redactError(part.error, redaction) }),
        ...redactDone(part.activity, redaction),
      }
    case 'signal':
      return { ...part, text: redaction.text(part.text), data: redaction.json(part.data) }
    case 'image':
    case 'file':
      return { ...part, ...named(part, redaction) }
  }
}

function redactDone(activity: ActivityNote | undefined, redaction: Redaction): { readonly activity?: ActivityNote } {
  return activity === undefined ? {} : { activity: redactActivity(activity, redaction) }
}

/** A model makes up ids and may call tools that do not exist. */
function calledAs(
  { toolCallId, toolName }: { readonly toolCallId: string; readonly toolName: string },
  redaction: Redaction,
): { readonly toolCallId: string; readonly toolName: string } {
  return { toolCallId: redaction.text(toolCallId), toolName: redaction.text(toolName) }
}

/** Redacts the name, type and URL of a file; its content cannot be searched. */
function named(
  { fileName, mimeType, url }: { readonly fileName?: string; readonly mimeType: string; readonly url?: string },
  redaction: Redaction,
): { readonly fileName?: string; readonly mimeType: string; readonly url?: string } {
  return {
    mimeType: redaction.text(mimeType),
    ...(fileName === undefined ? {} : { fileName: redaction.text(fileName) }),
    ...(url === undefined ? {} : { url: redaction.text(url) }),
  }
}

/** Whatever the order of keys, which is another one after a part was put together again. */
function isSame(a: unknown, b: unknown): boolean {
  return JSON.stringify(a, sorted) === JSON.stringify(b, sorted)
}

function sorted(_key: string, value: unknown): unknown {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return value
  return Object.fromEntries(Object.entries(value).toSorted(([one], [other]) => (one < other ? -1 : 1)))
}

export function redactFailure<Body extends { readonly error?: ErrorData }>(body: Body, redaction: Redaction): Body {
  return body.error === undefined ? body : { ...body, error: redactError(body.error, redaction) }
}

export function redactAnswer({ value, ...rest }: Answer, redaction: Redaction): Answer {
  return redactFailure({ ...rest, ...(value === undefined ? {} : { value: redaction.json(value) }) }, redaction)
}

export function redactTask(task: TaskItem, redaction: Redaction): TaskItem {
  return {
    ...task,
    id: redaction.text(task.id),
    content: redaction.text(task.content),
    activeForm: redaction.text(task.activeForm),
  }
}
