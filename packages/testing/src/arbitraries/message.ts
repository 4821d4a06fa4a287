import type {
  CallState,
  FilePart,
  ImagePart,
  MessageRole,
  Part,
  PartBase,
  ReasoningPart,
  SignalPart,
  StoredMessage,
  TextPart,
  ToolCallPart,
  ToolResultPart,
} from '@inspan/protocol'
import * as fc from 'fast-check'
import { arbitraryActivityNote } from './activity.ts'
import { arbitraryAnnotations, arbitraryEventMeta, arbitraryNativeRef, arbitraryToolName } from './agent-event.ts'
import { arbitraryAnswer } from './control.ts'
import {
  arbitraryBlobRef,
  arbitraryCount,
  arbitraryErrorData,
  arbitraryId,
  arbitraryJsonObject,
  arbitraryJsonValue,
  arbitraryText,
  arbitraryTime,
  arbitraryUrl,
} from './json.ts'
import { shape } from './shape.ts'
import { arbitraryFinishReason, arbitraryUsage } from './usage.ts'

const arbitraryCallState: fc.Arbitrary<CallState> = shape<CallState>(
  { stage: fc.constantFrom('ordered', 'waiting', 'started', 'ended') },
  {
    outcome: fc.constantFrom('ok', 'error', 'denied', 'aborted', 'in-doubt'),
    attempt: fc.integer({ min: 1, max: 3 }),
    idempotencyKey: arbitraryId,
    waitId: arbitraryId,
    hash: arbitraryId,
    judgedAs: fc.array(arbitraryId, { maxLength: 2 }),
    preconditions: arbitraryJsonObject,
    interrupted: fc.constant(true),
    answer: arbitraryAnswer,
    resume: arbitraryAnswer,
  },
)

const base: { readonly [K in Exclude<keyof PartBase, 'id'>]-?: fc.Arbitrary<Exclude<PartBase[K], undefined>> } = {
  state: fc.constantFrom('open', 'interrupted'),
  parentToolCallId: arbitraryId,
  native: arbitraryNativeRef,
  meta: arbitraryEventMeta,
}
const id = fc.nat({ max: 20 }).map(String)
const media = {
  id,
  mimeType: fc.constantFrom('image/png', 'application/pdf', 'text/plain'),
  data: fc.base64String({ maxLength: 12 }),
}
const mediaOptions = { ...base, ref: arbitraryBlobRef, url: arbitraryUrl, fileName: arbitraryText }

const text = shape<TextPart>({ type: fc.constant('text'), id, text: arbitraryText }, { ...base, ref: arbitraryBlobRef })
const image = shape<ImagePart>({ type: fc.constant('image'), ...media }, mediaOptions)
const file = shape<FilePart>({ type: fc.constant('file'), ...media }, mediaOptions)
const signal = shape<SignalPart>(
  {
    type: fc.constant('signal'),
    id,
    kind: fc.constantFrom(
      'system_reminder',
      'state_signal',
      'reactive_signal',
      'notification',
      'notification_summary',
      'om_observation_start',
      'om_observation_end',
      'om_observation_failed',
      'om_thread_title_updated',
      'compaction',
    ),
    text: arbitraryText,
    data: arbitraryJsonObject,
  },
  base,
)

export const partsByType: { readonly [Type in Part['type']]: fc.Arbitrary<Extract<Part, { type: Type }>> } = {
  text,
  reasoning: shape<ReasoningPart>({ type: fc.constant('reasoning'), id, text: arbitraryText }, base),
  'tool-call': shape<ToolCallPart>(
    {
      type: fc.constant('tool-call'),
      id,
      toolCallId: arbitraryId,
      toolName: arbitraryToolName,
      args: arbitraryJsonObject,
      call: arbitraryCallState,
    },
    {
      ...base,
      inputText: arbitraryText,
      serverName: arbitraryText,
      annotations: arbitraryAnnotations,
      activity: arbitraryActivityNote,
    },
  ),
  'tool-result': shape<ToolResultPart>(
    {
      type: fc.constant('tool-result'),
      id,
      toolCallId: arbitraryId,
      toolName: arbitraryToolName,
      result: arbitraryJsonValue,
    },
    {
      ...base,
      resultRef: arbitraryBlobRef,
      isError: fc.boolean(),
      error: arbitraryErrorData,
      output: arbitraryText,
      activity: arbitraryActivityNote,
    },
  ),
  image,
  file,
  signal,
}

export const arbitraryPart: fc.Arbitrary<Part> = fc.oneof(...Object.values(partsByType))

/** Parts of one message, with their positions as ids. */
const arbitraryParts: fc.Arbitrary<readonly Part[]> = fc.array(arbitraryPart, { maxLength: 4 }).map(numbered)

/** What a person or client sends: text and attachments, all complete. */
export const arbitraryUserParts: fc.Arbitrary<readonly Part[]> = fc
  .array(fc.oneof(text, image, file, signal), { minLength: 1, maxLength: 3 })
  .map((parts) =>
    numbered(parts).map((part) => {
      const { state: _state, ...complete } = part
      return complete
    }),
  )

function numbered(parts: readonly Part[]): readonly Part[] {
  return parts.map((part, index) => ({ ...part, id: String(index) }))
}

export const arbitraryRole: fc.Arbitrary<MessageRole> = fc.constantFrom('system', 'user', 'assistant', 'tool')

export const arbitraryStoredMessage: fc.Arbitrary<StoredMessage> = shape<StoredMessage>(
  {
    id: arbitraryId,
    role: arbitraryRole,
    order: arbitraryCount,
    at: arbitraryTime,
    state: fc.constantFrom('open', 'done', 'interrupted'),
    parts: arbitraryParts,
  },
  {
    run: arbitraryId,
    turn: arbitraryId,
    step: fc.nat({ max: 50 }),
    by: arbitraryId,
    parentToolCallId: arbitraryId,
    finishReason: arbitraryFinishReason,
    usage: arbitraryUsage,
    error: arbitraryErrorData,
    native: arbitraryNativeRef,
    meta: arbitraryEventMeta,
  },
)
