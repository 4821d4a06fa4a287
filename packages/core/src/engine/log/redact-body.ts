import { isDeepStrictEqual } from 'node:util'
import type {
  ActivityEvent,
  ActivityNote,
  ErrorData,
  EventMeta,
  JsonObject,
  JsonValue,
  Part,
  WaitKind,
  WaitRequest,
} from '@inspan/protocol'
import { asJson, type MessageAddedRecord, type RecordBody, type SealedPart } from '@inspan/protocol/log'
import type { Redaction } from './redactor.ts'

/**
 * Returns a record's body as it may be written: what agents and tools said, and what follows from it, is redacted. What
 * users and applications said is not, nor are batches, because the sealed part replaces them.
 */
export function redactBody(
  body: RecordBody,
  redaction: Redaction,
  kindOf: (waitId: string) => WaitKind | undefined,
): RecordBody {
  switch (body.type) {
    case 'text-delta':
    case 'reasoning-delta':
    case 'file':
    case 'tool-call':
    case 'tool-result':
      return redactPart(body, redaction)
    case 'error':
      return {
        ...body,
        error: redactError(body.error, redaction),
        ...(body.meta === undefined ? {} : { meta: redactMeta(body.meta, redaction, true) }),
      }
    case 'message.ended':
    case 'step.ended':
      return body.error === undefined ? body : { ...body, error: redactError(body.error, redaction) }
    case 'run.ended':
      return {
        ...body,
        ...(body.error === undefined ? {} : { error: redactError(body.error, redaction) }),
        ...(body.output === undefined ? {} : { output: redaction.json(body.output) }),
      }
    case 'message.added':
      return redactMessage(body, redaction)
    case 'queue.added':
      // A hand-off tells the next agent what an agent has said, such as its plan.
      if (body.item.lane !== 'hand-off') return body
      return { ...body, item: { ...body.item, parts: body.item.parts.map((part) => redactAddedPart(part, redaction)) } }
    case 'wait.opened':
      return { ...body, wait: redactWait(body.wait, redaction) }
    case 'wait.answered': {
      // The answer of an external tool is a result; what people answer are their own words.
      if (kindOf(body.waitId) !== 'tool') return body
      const { error, value, ...rest } = body.answer
      return {
        ...body,
        answer: {
          ...rest,
          ...(value === undefined ? {} : { value: redaction.json(value) }),
          ...(error === undefined ? {} : { error: redactError(error, redaction) }),
        },
      }
    }
    case 'tasks.changed':
      return {
        ...body,
        tasks: body.tasks.map((task) => ({
          ...task,
          id: redaction.text(task.id),
          content: redaction.text(task.content),
          activeForm: redaction.text(task.activeForm),
        })),
      }
    case 'config.changed':
      return typeof body.title === 'string' ? { ...body, title: redaction.text(body.title) } : body
    case 'note':
      if (OWN_WORDS.has(body.kind)) return body
      return {
        ...body,
        text: redaction.text(body.text),
        ...(body.data === undefined ? {} : { data: redactData(body.data, redaction) }),
      }
    case 'call.started':
      return {
        ...body,
        toolCallId: redaction.text(body.toolCallId),
        idempotencyKey: redaction.text(body.idempotencyKey),
      }
    case 'batch':
    case 'message.started':
    case 'run.started':
    case 'run.resumed':
    case 'run.parked':
    case 'run.cancelled':
    case 'turn.started':
    case 'turn.process':
    case 'turn.ended':
    case 'step.started':
    case 'wait.cancelled':
    case 'wait.superseded':
    case 'queue.removed':
    case 'queue.held':
    case 'checkpoint.made':
    case 'binding.changed':
    case 'binding.removed':
    case 'fork':
    case 'rewind':
    case 'erased':
    case 'om.committed':
    case 'context.cut':
    case 'compaction':
    case 'child.started':
    case 'child.ended':
      return body
  }
}

/** Kinds of notes with only people's words, or only ours. */
const OWN_WORDS: ReadonlySet<string> = new Set(['feedback', 'handover', 'receipt', 'budget', 'limit'])

type Content = Pick<SealedPart, 'meta' | 'activity'> & { readonly error?: ErrorData }

/** Redacts a sealed part. `redacted` says that it is not what was said: such arguments must not be acted on. */
function redactPart(body: SealedPart, redaction: Redaction): SealedPart {
  const { meta, activity, error, ...whole }: SealedPart & Content = body
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
  } as SealedPart
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
function redactMeta({ provider, ...meta }: EventMeta, redaction: Redaction, isSame: boolean): EventMeta {
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

function redactData(data: JsonObject, redaction: Redaction): JsonObject {
  const { activity, ...rest } = data
  const redacted = redactJson(rest, redaction)
  if (activity === undefined) return redacted
  const note = activity as unknown as ActivityNote
  const isNote = typeof note === 'object' && note !== null && Array.isArray(note.events)
  return { ...redacted, activity: isNote ? asJson(redactActivity(note, redaction)) : redaction.json(activity) }
}

function redactError({ cause, ...error }: ErrorData, redaction: Redaction): ErrorData {
  return { ...redactJson(error, redaction), ...(cause === undefined ? {} : { cause: redactError(cause, redaction) }) }
}

/** Redacts the values of an object whose keys are ours. */
function redactJson<Value extends object>(value: Value, redaction: Redaction): Value {
  const entries = Object.entries(value as Record<string, JsonValue | undefined>)
  return Object.fromEntries(
    entries.map(([key, each]) => [key, each === undefined ? undefined : redaction.json(each)]),
  ) as Value
}

function redactWait(wait: WaitRequest, redaction: Redaction): WaitRequest {
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
function redactMessage(body: MessageAddedRecord, redaction: Redaction): MessageAddedRecord {
  const isOfAgent = body.role === 'assistant' || body.role === 'tool' || body.meta?.synthetic === true
  const parts = body.parts.map((part) => {
    const isReminder = part.type === 'signal' && (part.kind === 'system_reminder' || part.kind === 'state_signal')
    return isOfAgent || isReminder ? redactAddedPart(part, redaction) : part
  })
  const meta = isOfAgent && body.meta !== undefined ? { meta: redactMeta(body.meta, redaction, true) } : {}
  return { ...body, parts, ...meta }
}

/** Redacts a part like one that was said here: its metadata too, and with the flag. */
function redactAddedPart(part: Part, redaction: Redaction): Part {
  const content = addedContent(part, redaction)
  // A signature is only valid for the original text.
  const isSame = content.type !== 'reasoning' || isDeepStrictEqual(content, part)
  const redacted = part.meta === undefined ? content : { ...content, meta: redactMeta(part.meta, redaction, isSame) }
  if (isDeepStrictEqual(redacted, part)) return part
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
