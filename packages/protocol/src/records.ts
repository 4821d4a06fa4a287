import type { ConfigChangedRecord } from './control-record.ts'
import { eraseSettings, withoutContent } from './content-settings.ts'
import type { RecordBody, RecordType } from './record.ts'
import {
  redactAddedPart,
  redactData,
  redactError,
  redactMessage,
  redactMeta,
  redactPart,
  redactWait,
  type Redaction,
} from './redact.ts'
import type { Part } from './message.ts'
import type { WaitKind } from './wait.ts'

type BodyOf<Type extends RecordType> = Extract<RecordBody, { readonly type: Type }>

/** Everything about a type of record that does not depend on a reader: the reducer, the schemas and stores use it. */
export interface RecordDefinition<Body> {
  /** The current version. Raised together with an upcaster in `upcast.ts`. */
  readonly v: number
  /** Committed before what follows it happens. Other records may share the transaction of the next barrier. */
  readonly barrier?: true
  /**
   * Returns the body without what people or agents said in it. Its structure stays, so that the log still folds.
   * Configuration (mode, rules, settings) is no content and stays too. Absent: there is no content.
   */
  readonly erase?: (body: Body) => Body
  /**
   * Returns the body as it may be written: what agents and tools said, and what follows from it, is redacted; what
   * users and applications said is not. Absent: nothing of it is said by agents or tools.
   */
  readonly redact?: (body: Body, redaction: Redaction, kindOf: (waitId: string) => WaitKind | undefined) => Body
}

const ERASED = { erased: true } as const

/** Kinds of notes with only people's words, or only ours. */
const OWN_WORDS: ReadonlySet<string> = new Set(['feedback', 'handover', 'receipt', 'budget'])

/** One definition per type. A new type does not compile until it has one. */
export const RECORDS: { readonly [Type in RecordType]: RecordDefinition<BodyOf<Type>> } = {
  'text-delta': {
    v: 1,
    erase: ({ messageId, partId, type }) => ({ type, messageId, partId, text: '', meta: ERASED }),
    redact: redactPart,
  },
  'reasoning-delta': {
    v: 1,
    erase: ({ messageId, partId, type }) => ({ type, messageId, partId, text: '', meta: ERASED }),
    redact: redactPart,
  },
  file: {
    v: 1,
    erase: ({ messageId, mimeType, partId, type }) => ({ type, messageId, partId, mimeType, data: '', meta: ERASED }),
    redact: redactPart,
  },
  'tool-call': {
    v: 1,
    erase: ({ messageId, partId, toolCallId, toolName, type }) => ({
      type,
      messageId,
      partId,
      toolCallId,
      toolName,
      args: {},
      meta: ERASED,
    }),
    redact: redactPart,
  },
  'tool-result': {
    v: 1,
    barrier: true,
    erase: ({ call, isError, messageId, outcome, partId, toolCallId, toolName, type }) => ({
      type,
      messageId,
      partId,
      toolCallId,
      toolName,
      result: null,
      ...(isError === undefined ? {} : { isError }),
      ...(call === undefined ? {} : { call }),
      ...(outcome === undefined ? {} : { outcome }),
      meta: ERASED,
    }),
    redact: redactPart,
  },
  error: {
    v: 1,
    erase: ({ error, type }) => ({ type, error: { name: error.name, message: '' }, meta: ERASED }),
    redact: (body, redaction) => ({
      ...body,
      error: redactError(body.error, redaction),
      ...(body.meta === undefined ? {} : { meta: redactMeta(body.meta, redaction, true) }),
    }),
  },
  // Not redacted: the sealed part replaces it.
  batch: { v: 1, erase: (body) => ({ ...body, event: eraseBatch(body.event) }) },
  'message.added': {
    v: 1,
    barrier: true,
    erase: (body) => ({ ...body, parts: body.parts.map(erasePart), meta: ERASED }),
    redact: redactMessage,
  },
  'message.started': { v: 1 },
  'message.ended': { v: 1, erase: withoutError, redact: errorRedacted },
  'run.started': {
    v: 1,
    barrier: true,
    erase: ({ requestContext: _context, turn: _turn, ...rest }) => rest,
  },
  'run.resumed': { v: 1 },
  'run.parked': { v: 1 },
  'run.cancelled': { v: 1, barrier: true },
  'run.ended': {
    v: 1,
    barrier: true,
    erase: ({ error: _error, output: _output, ...rest }) => rest,
    redact: (body, redaction) => ({
      ...errorRedacted(body, redaction),
      ...(body.output === undefined ? {} : { output: redaction.json(body.output) }),
    }),
  },
  'turn.started': { v: 1 },
  'turn.process': { v: 1, barrier: true },
  'turn.ended': { v: 1 },
  'step.started': { v: 1, erase: ({ request: _request, ...rest }) => rest },
  'step.ended': { v: 1, erase: withoutError, redact: errorRedacted },
  'call.started': {
    v: 1,
    barrier: true,
    redact: (body, redaction) => ({
      ...body,
      toolCallId: redaction.text(body.toolCallId),
      idempotencyKey: redaction.text(body.idempotencyKey),
    }),
  },
  'wait.opened': {
    v: 1,
    barrier: true,
    erase: (body) => ({
      type: body.type,
      ...(body.call === undefined ? {} : { call: body.call }),
      ...(body.answered === undefined ? {} : { answered: body.answered }),
      wait: {
        id: body.wait.id,
        kind: body.wait.kind,
        description: '',
        subject: {
          ...(body.wait.subject.hash === undefined ? {} : { hash: body.wait.subject.hash }),
          ...(body.wait.subject.judgedAs === undefined ? {} : { judgedAs: body.wait.subject.judgedAs }),
        },
        ...(body.wait.interrupted === undefined ? {} : { interrupted: true }),
      },
    }),
    redact: (body, redaction) => ({ ...body, wait: redactWait(body.wait, redaction) }),
  },
  'wait.answered': {
    v: 1,
    barrier: true,
    erase: (body) => ({ ...body, answer: { decision: body.answer.decision } }),
    redact: (body, redaction, kindOf) => {
      // The answer of an external tool is a result; what people answer are their own words.
      if (kindOf(body.waitId) !== 'tool') return body
      const { value, ...rest } = body.answer
      const answer = { ...rest, ...(value === undefined ? {} : { value: redaction.json(value) }) }
      return { ...body, answer: errorRedacted(answer, redaction) }
    },
  },
  'wait.cancelled': { v: 1, barrier: true },
  'wait.superseded': { v: 1, barrier: true },
  'queue.added': {
    v: 1,
    barrier: true,
    erase: (body) => ({ ...body, item: { id: body.item.id, lane: body.item.lane, parts: [] } }),
    redact: (body, redaction) => {
      // A hand-off tells the next agent what an agent has said, such as its plan.
      if (body.item.lane !== 'hand-off') return body
      return { ...body, item: { ...body.item, parts: body.item.parts.map((part) => redactAddedPart(part, redaction)) } }
    },
  },
  'queue.removed': { v: 1 },
  'queue.held': { v: 1 },
  'config.changed': {
    v: 1,
    barrier: true,
    erase: eraseConfig,
    redact: (body, redaction) =>
      typeof body.title === 'string' ? { ...body, title: redaction.text(body.title) } : body,
  },
  'tasks.changed': {
    v: 1,
    erase: (body) => ({ ...body, tasks: [] }),
    redact: (body, redaction) => ({
      ...body,
      tasks: body.tasks.map((task) => ({
        ...task,
        id: redaction.text(task.id),
        content: redaction.text(task.content),
        activeForm: redaction.text(task.activeForm),
      })),
    }),
  },
  'checkpoint.made': { v: 1, erase: (body) => ({ ...body, root: '', files: [] }) },
  'binding.changed': { v: 1 },
  'binding.removed': { v: 1 },
  fork: {
    v: 1,
    barrier: true,
    erase: (body) => ({
      ...body,
      keep: { ...body.keep, tasks: [], settings: withoutContent(body.keep.settings) },
    }),
  },
  rewind: { v: 1, barrier: true, erase: (body) => ({ ...body, tasks: [] }) },
  erased: { v: 1, barrier: true },
  'om.committed': { v: 1, barrier: true },
  'context.cut': { v: 1, barrier: true },
  compaction: {
    v: 1,
    barrier: true,
    erase: ({ summary: { preview: _preview, ...summary }, ...body }) => ({ ...body, summary }),
  },
  'child.started': { v: 1, barrier: true },
  'child.ended': { v: 1, barrier: true },
  note: {
    v: 1,
    erase: ({ kind, type }) => ({ type, kind, text: '' }),
    redact: (body, redaction) => {
      if (OWN_WORDS.has(body.kind)) return body
      return {
        ...body,
        text: redaction.text(body.text),
        ...(body.data === undefined ? {} : { data: redactData(body.data, redaction) }),
      }
    },
  },
}

/** The current version of each type. */
export const RECORD_VERSIONS: Readonly<Record<RecordType, number>> = Object.fromEntries(
  Object.entries(RECORDS).map(([type, { v }]) => [type, v]),
) as Record<RecordType, number>

/**
 * Record types that must be committed before what follows them happens. Records of other types may share the
 * transaction of the next barrier.
 */
export const BARRIER_TYPES: ReadonlySet<RecordType> = new Set(
  (Object.keys(RECORDS) as RecordType[]).filter((type) => RECORDS[type].barrier === true),
)

/** Returns the definition of a body's own type. */
function definitionOf(body: RecordBody): RecordDefinition<RecordBody> {
  return RECORDS[body.type] as RecordDefinition<RecordBody>
}

/** Returns a record's body without content (see `RecordDefinition.erase`). */
export function eraseBody(body: RecordBody): RecordBody {
  return definitionOf(body).erase?.(body) ?? body
}

/** Returns a record's body as it may be written (see `RecordDefinition.redact`). */
export function redactBody(
  body: RecordBody,
  redaction: Redaction,
  kindOf: (waitId: string) => WaitKind | undefined,
): RecordBody {
  return definitionOf(body).redact?.(body, redaction, kindOf) ?? body
}

function withoutError<Body extends { readonly error?: unknown }>({
  error: _error,
  ...rest
}: Body): Omit<Body, 'error'> {
  return rest
}

function errorRedacted<Body extends { readonly error?: Parameters<typeof redactError>[0] }>(
  body: Body,
  redaction: Redaction,
): Body {
  return body.error === undefined ? body : { ...body, error: redactError(body.error, redaction) }
}

/** Title, goal and the user's state are content; of the state only the names of its keys are left. */
function eraseConfig({ title, goal, settings, state, ...rest }: ConfigChangedRecord): ConfigChangedRecord {
  return {
    ...rest,
    ...(title === undefined ? {} : { title: null }),
    ...(goal === undefined ? {} : { goal: null }),
    ...(settings === undefined ? {} : { settings: eraseSettings(settings) }),
    ...(state === undefined ? {} : { state: Object.fromEntries(Object.keys(state).map((key) => [key, null])) }),
  }
}

function eraseBatch(event: Extract<RecordBody, { type: 'batch' }>['event']): typeof event {
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

function erasePart(part: Part): Part {
  return { id: part.id, type: 'text', text: '', meta: ERASED }
}
