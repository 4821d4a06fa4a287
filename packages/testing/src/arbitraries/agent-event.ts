import type {
  AgentEvent,
  ErrorEvent,
  EventExtras,
  EventMeta,
  FileEvent,
  FinishEvent,
  NativeRef,
  ReasoningDeltaEvent,
  StartEvent,
  StepFinishEvent,
  StepStartEvent,
  TextDeltaEvent,
  ToolAnnotations,
  ToolApprovalRequestEvent,
  ToolCallDeltaEvent,
  ToolCallEvent,
  ToolCallInfo,
  ToolProgressEvent,
  ToolResultEvent,
} from '@inspan/protocol'
import * as fc from 'fast-check'
import { arbitraryActivityNote } from './activity.ts'
import {
  arbitraryBlobRef,
  arbitraryErrorData,
  arbitraryId,
  arbitraryJsonObject,
  arbitraryJsonValue,
  arbitraryText,
  arbitraryUrl,
} from './json.ts'
import { shape } from './shape.ts'
import { arbitraryFinishReason, arbitraryUsage } from './usage.ts'

export const arbitraryNativeRef: fc.Arbitrary<NativeRef> = shape<NativeRef>(
  {},
  { sessionId: arbitraryId, messageId: arbitraryId, turnId: arbitraryId, itemId: arbitraryId },
)

interface NamedMeta {
  readonly interrupted?: true
  readonly invalidInput?: string
  readonly provider?: EventMeta['provider'] & object
  readonly synthetic?: true
  readonly erased?: true
  readonly vendorHint?: string
}

/** Sometimes has a key of its own, because `meta` is open. */
export const arbitraryEventMeta: fc.Arbitrary<EventMeta> = shape<NamedMeta>(
  {},
  {
    interrupted: fc.constant(true),
    invalidInput: arbitraryText,
    provider: arbitraryJsonObject,
    synthetic: fc.constant(true),
    erased: fc.constant(true),
    vendorHint: arbitraryText,
  },
).map((meta) => ({ ...meta }))

export const arbitraryAnnotations: fc.Arbitrary<ToolAnnotations> = shape<ToolAnnotations>(
  {},
  {
    title: arbitraryText,
    readOnlyHint: fc.boolean(),
    destructiveHint: fc.boolean(),
    idempotentHint: fc.boolean(),
    openWorldHint: fc.boolean(),
  },
)

const extras: { readonly [K in keyof EventExtras]-?: fc.Arbitrary<Exclude<EventExtras[K], undefined>> } = {
  partId: arbitraryId,
  messageId: arbitraryId,
  parentToolCallId: arbitraryId,
  native: arbitraryNativeRef,
  activity: arbitraryActivityNote,
  meta: arbitraryEventMeta,
}

const origin = { annotations: arbitraryAnnotations, serverName: arbitraryText }

export const arbitraryToolName: fc.Arbitrary<string> = fc.constantFrom('read_file', 'execute_command', 'mcp__db__query')

const call = { toolCallId: arbitraryId, toolName: arbitraryToolName, args: arbitraryJsonObject }
const stepIndex = fc.nat({ max: 50 })

/** One arbitrary per type, so that a law can be checked for each type. */
export const agentEventsByType: {
  readonly [Type in AgentEvent['type']]: fc.Arbitrary<Extract<AgentEvent, { type: Type }>>
} = {
  start: shape<StartEvent>({ type: fc.constant('start') }, extras),
  'text-delta': shape<TextDeltaEvent>({ type: fc.constant('text-delta'), text: arbitraryText }, extras),
  'reasoning-delta': shape<ReasoningDeltaEvent>({ type: fc.constant('reasoning-delta'), text: arbitraryText }, extras),
  file: shape<FileEvent>(
    {
      type: fc.constant('file'),
      mimeType: fc.constantFrom('image/png', 'application/pdf'),
      data: fc.base64String({ maxLength: 12 }),
    },
    { ...extras, fileName: arbitraryText, ref: arbitraryBlobRef, url: arbitraryUrl },
  ),
  'tool-call': shape<ToolCallEvent>({ type: fc.constant('tool-call'), ...call }, { ...extras, ...origin }),
  'tool-call-delta': shape<ToolCallDeltaEvent>(
    { type: fc.constant('tool-call-delta'), toolCallId: arbitraryId, argsTextDelta: arbitraryText },
    { ...extras, toolName: arbitraryToolName },
  ),
  'tool-approval-request': shape<ToolApprovalRequestEvent>(
    { type: fc.constant('tool-approval-request'), toolCall: shape<ToolCallInfo>(call, {}) },
    { ...extras, ...origin },
  ),
  'tool-result': shape<ToolResultEvent>(
    {
      type: fc.constant('tool-result'),
      toolCallId: arbitraryId,
      toolName: arbitraryToolName,
      result: arbitraryJsonValue,
    },
    { ...extras, ...origin, isError: fc.boolean(), error: arbitraryErrorData },
  ),
  'tool-progress': shape<ToolProgressEvent>(
    { type: fc.constant('tool-progress'), toolCallId: arbitraryId, toolName: arbitraryToolName },
    { ...extras, output: arbitraryText },
  ),
  'step-start': shape<StepStartEvent>({ type: fc.constant('step-start'), stepIndex }, extras),
  'step-finish': shape<StepFinishEvent>(
    { type: fc.constant('step-finish'), stepIndex, finishReason: arbitraryFinishReason },
    { ...extras, usage: arbitraryUsage },
  ),
  error: shape<ErrorEvent>(
    { type: fc.constant('error'), error: arbitraryErrorData },
    { ...extras, code: arbitraryText },
  ),
  finish: shape<FinishEvent>(
    { type: fc.constant('finish'), finishReason: arbitraryFinishReason },
    { ...extras, usage: arbitraryUsage },
  ),
}

export const arbitraryAgentEvent: fc.Arbitrary<AgentEvent> = fc.oneof(...Object.values(agentEventsByType))
