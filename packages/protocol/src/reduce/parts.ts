import type { BatchEvent, CallStartedRecord, PartAddress, RecordedToolResult } from '../control-record.ts'
import type { CallState } from '../call.ts'
import { canCallMove } from '../call.ts'
import { findIn, put } from '../id-trie.ts'
import type { Part, PartBase, ThreadMessage, ToolResultPart } from '../message.ts'
import { asJson } from '../op.ts'
import type { SealedPart } from '../record.ts'
import { findMessage, partPath, putMessage, setPartOp, type Draft } from './draft.ts'
import { endDoubt, noteDefinition, noteDoubt } from './doubts.ts'
import { partIndex, putPart } from './part-list.ts'
import type { RecordContext } from './reduce.ts'

/** Live tool output is a window: it is cut back to this size when it reaches twice as much. */
const OUTPUT_WINDOW = 64 * 1024

/** Appends what a batch carries to its open part; the first batch opens the part. */
export function applyBatch(draft: Draft, event: BatchEvent): void {
  const at = findMessage(draft, event.messageId)
  if (at < 0) return
  const message = draft.messages.at(at) as ThreadMessage
  const index = partIndex(event.partId, message.parts.length)
  if (index < 0) return
  const existing = message.parts.at(index)
  if (existing === undefined || isHeldOpen(existing)) {
    const part = openPart(event)
    putMessage(draft, at, { ...message, parts: putPart(message.parts, index, part) })
    setPartOp(draft, message.id, part)
    noteCall(draft, message.id, part)
    return
  }
  const grown = growPart(draft, message.id, existing, event)
  if (grown !== undefined) putMessage(draft, at, { ...message, parts: message.parts.set(index, grown) })
}

/**
 * Returns the messages as `applyBatch` would leave them if the event only adds words to an open text. That is nearly
 * always the case, and needs no draft. Returns `undefined` for everything else.
 */
export function withMoreText(messages: Draft['messages'], event: BatchEvent): Draft['messages'] | undefined {
  if (event.type !== 'text-delta' && event.type !== 'reasoning-delta') return undefined
  const at = messages.indexOf(event.messageId)
  const message = at < 0 ? undefined : messages.at(at)
  if (message === undefined || message.state !== 'open') return undefined
  const index = partIndex(event.partId, message.parts.length)
  const part = index < 0 ? undefined : message.parts.at(index)
  if (part === undefined || part.state !== 'open' || isHeldOpen(part) || !isSameSpeech(part, event)) return undefined
  return messages.set(at, { ...message, parts: message.parts.set(index, { ...part, text: part.text + event.text }) })
}

/** True for a placeholder that `putPart` made for a part whose records come later. */
function isHeldOpen(part: Part): boolean {
  return part.type === 'text' && part.state === 'open' && part.text.length === 0
}

function openPart(event: BatchEvent): Part {
  const base: PartBase = { ...partBase(event), state: 'open' }
  switch (event.type) {
    case 'text-delta':
      return { ...base, type: 'text', text: event.text }
    case 'reasoning-delta':
      return { ...base, type: 'reasoning', text: event.text }
    case 'tool-call-delta':
      return {
        ...base,
        type: 'tool-call',
        toolCallId: event.toolCallId,
        toolName: event.toolName ?? '',
        args: {},
        inputText: event.argsTextDelta,
        call: { stage: 'ordered' },
      }
    case 'tool-progress':
      return {
        ...base,
        type: 'tool-result',
        toolCallId: event.toolCallId,
        toolName: event.toolName,
        result: null,
        output: event.output ?? '',
      }
  }
}

/** Returns `undefined` when the event does not fit the part: it is sealed already, or of another kind. */
function growPart(draft: Draft, messageId: string, part: Part, event: BatchEvent): Part | undefined {
  if (part.state !== 'open') return undefined
  if (event.type === 'text-delta' || event.type === 'reasoning-delta') {
    if (!isSameSpeech(part, event)) return undefined
    appendOp(draft, messageId, part.id, 'text', event.text)
    return { ...part, text: part.text + event.text }
  }
  if (part.type === 'tool-call' && event.type === 'tool-call-delta') {
    appendOp(draft, messageId, part.id, 'inputText', event.argsTextDelta)
    return { ...part, inputText: (part.inputText ?? '') + event.argsTextDelta }
  }
  if (part.type === 'tool-result' && event.type === 'tool-progress') {
    const output = (part.output ?? '') + (event.output ?? '')
    if (output.length <= 2 * OUTPUT_WINDOW) {
      appendOp(draft, messageId, part.id, 'output', event.output ?? '')
      return { ...part, output }
    }
    const cut: ToolResultPart = { ...part, output: output.slice(-OUTPUT_WINDOW) }
    draft.ops.push({ type: 'set', path: partPath(messageId, part.id, 'output'), value: cut.output ?? '' })
    return cut
  }
  return undefined
}

function isSameSpeech(
  part: Part,
  { type }: Extract<BatchEvent, { type: 'text-delta' | 'reasoning-delta' }>,
): part is Extract<Part, { type: 'text' | 'reasoning' }> {
  return part.type === (type === 'text-delta' ? 'text' : 'reasoning')
}

function appendOp(draft: Draft, messageId: string, partId: string, field: string, value: string): void {
  if (draft.isOnlyShown) return
  draft.ops.push({ type: 'append-text', path: partPath(messageId, partId, field), value })
}

/** Replaces a part by its sealed form, from the record alone, so that a replay without batches gives the same. */
export function applySeal(draft: Draft, body: SealedPart): void {
  const at = findMessage(draft, body.messageId)
  if (at < 0) return
  const message = draft.messages.at(at) as ThreadMessage
  const index = partIndex(body.partId, message.parts.length)
  if (index < 0) return
  const existing = message.parts.at(index)
  const part = sealedPart(body, existing)
  const sealed: ThreadMessage = { ...message, parts: putPart(message.parts, index, part) }
  noteCall(draft, message.id, part)
  if (existing !== undefined && isSameText(existing, part)) {
    // Clients that kept up have the text already: sending it again would double the bytes of the whole stream.
    draft.ops.push({ type: 'remove', path: partPath(message.id, part.id, 'state') })
  } else {
    setPartOp(draft, message.id, part)
  }
  if (body.type === 'tool-result') endCall(draft, at, sealed, body)
  else putMessage(draft, at, sealed)
}

/** Stores a message that got a result and ends the result's call, which is mostly in the same message. */
function endCall(draft: Draft, at: number, message: ThreadMessage, body: RecordedToolResult): void {
  const address = body.call ?? findCall(draft, message, body.toolCallId)
  const outcome = body.outcome ?? (body.isError === true ? 'error' : 'ok')
  const end = (call: CallState): CallState => ({ ...call, stage: 'ended', outcome })
  const isOwn = address?.messageId === message.id
  if (address !== undefined && outcome === 'in-doubt') {
    noteDoubt(draft, (isOwn ? callIn(message, address.partId) : callAt(draft, address)) ?? {})
  }
  putMessage(draft, at, isOwn ? withMovedCall(draft, message, address.partId, end) : message)
  if (address !== undefined && !isOwn) moveCall(draft, address, end)
}

function sealedPart(body: SealedPart, existing: Part | undefined): Part {
  const base: PartBase = {
    ...partBase(body),
    ...(body.meta?.interrupted === true ? { state: 'interrupted' } : {}),
    ...(body.meta === undefined ? {} : { meta: body.meta }),
  }
  switch (body.type) {
    case 'text-delta':
      return { ...base, type: 'text', text: body.text }
    case 'reasoning-delta':
      return { ...base, type: 'reasoning', text: body.text }
    case 'file':
      return {
        ...base,
        type: body.mimeType.startsWith('image/') ? 'image' : 'file',
        mimeType: body.mimeType,
        data: body.data,
        ...(body.ref === undefined ? {} : { ref: body.ref }),
        ...(body.url === undefined ? {} : { url: body.url }),
        ...(body.fileName === undefined ? {} : { fileName: body.fileName }),
      }
    case 'tool-call':
      return {
        ...base,
        type: 'tool-call',
        toolCallId: body.toolCallId,
        toolName: body.toolName,
        args: body.args,
        ...(body.serverName === undefined ? {} : { serverName: body.serverName }),
        ...(body.annotations === undefined ? {} : { annotations: body.annotations }),
        ...(body.activity === undefined ? {} : { activity: body.activity }),
        call: existing?.type === 'tool-call' ? existing.call : { stage: 'ordered' },
      }
    case 'tool-result':
      return {
        ...base,
        type: 'tool-result',
        toolCallId: body.toolCallId,
        toolName: body.toolName,
        result: body.result,
        ...(body.resultRef === undefined ? {} : { resultRef: body.resultRef }),
        ...(body.isError === undefined ? {} : { isError: body.isError }),
        ...(body.error === undefined ? {} : { error: body.error }),
        ...(body.activity === undefined ? {} : { activity: body.activity }),
      }
  }
}

function partBase(event: BatchEvent | SealedPart): PartBase {
  return {
    id: event.partId,
    ...(event.parentToolCallId === undefined ? {} : { parentToolCallId: event.parentToolCallId }),
    ...(event.native === undefined ? {} : { native: event.native }),
  }
}

function isSameText(existing: Part, sealed: Part): boolean {
  return (
    (sealed.type === 'text' || sealed.type === 'reasoning') &&
    existing.type === sealed.type &&
    existing.state === 'open' &&
    sealed.state === undefined &&
    sealed.meta === undefined &&
    existing.native?.itemId === sealed.native?.itemId &&
    existing.native?.messageId === sealed.native?.messageId &&
    existing.text === sealed.text
  )
}

function findCall(draft: Draft, message: ThreadMessage, toolCallId: string): PartAddress | undefined {
  const place = findIn(draft.calls, callKey(message.id, toolCallId))
  if (place === undefined) return undefined
  const part = partIn(message, place.partId)
  const isIt = part?.type === 'tool-call' && part.toolCallId === toolCallId
  return isIt ? { messageId: message.id, partId: place.partId } : undefined
}

/** Notes the address of a call. Of two calls of a message with one id the later counts, whichever is sealed first. */
function noteCall(draft: Draft, messageId: string, part: Part): void {
  if (part.type !== 'tool-call') return
  const id = callKey(messageId, part.toolCallId)
  const known = findIn(draft.calls, id)
  if (known === undefined || Number(known.partId) < Number(part.id)) {
    draft.calls = put(draft.calls, { id, partId: part.id })
  }
}

function callKey(messageId: string, toolCallId: string): string {
  return `${messageId}\n${toolCallId}`
}

export function applyCallStarted(draft: Draft, body: CallStartedRecord, record: RecordContext): void {
  const { attempt, definition, hash, idempotencyKey, judgedAs } = body
  const tool = toolAt(draft, body)
  moveCall(draft, body, ({ interrupted: _interrupted, ...call }) => ({
    ...(hash === undefined ? call : boundTo(call, hash)),
    stage: 'started',
    attempt,
    idempotencyKey,
    ...(judgedAs === undefined ? {} : { judgedAs }),
  }))
  endDoubt(draft, body)
  if (tool !== undefined && definition !== undefined) noteDefinition(draft, tool, definition, record)
}

/** Binds the call to a hash. An answer given for another hash is dropped. */
function boundTo(call: CallState, hash: string): CallState {
  if (call.hash === hash) return call
  const { answer: _answer, ...rest } = call
  return { ...rest, hash }
}

function callAt(draft: Draft, address: PartAddress): CallState | undefined {
  const message = messageAt(draft, address)
  return message === undefined ? undefined : callIn(message, address.partId)
}

function toolAt(draft: Draft, address: PartAddress): string | undefined {
  const message = messageAt(draft, address)
  const part = message === undefined ? undefined : partIn(message, address.partId)
  return part?.type === 'tool-call' ? part.toolName : undefined
}

function messageAt(draft: Draft, { messageId }: PartAddress): ThreadMessage | undefined {
  const at = findMessage(draft, messageId)
  return at < 0 ? undefined : draft.messages.at(at)
}

function callIn(message: ThreadMessage, partId: string): CallState | undefined {
  const part = partIn(message, partId)
  return part?.type === 'tool-call' ? part.call : undefined
}

function partIn(message: ThreadMessage, partId: string): Part | undefined {
  const index = partIndex(partId, message.parts.length)
  return index < 0 ? undefined : message.parts.at(index)
}

/** Moves a call along its state machine. A move that is not allowed changes nothing. */
export function moveCall(draft: Draft, address: PartAddress, next: (call: CallState) => CallState): void {
  const message = messageAt(draft, address)
  if (message === undefined) return
  const moved = withMovedCall(draft, message, address.partId, next)
  if (moved !== message) putMessage(draft, findMessage(draft, message.id), moved)
}

function withMovedCall(
  draft: Draft,
  message: ThreadMessage,
  partId: string,
  next: (call: CallState) => CallState,
): ThreadMessage {
  const part = partIn(message, partId)
  if (part?.type !== 'tool-call') return message
  const call = next(part.call)
  if (!canCallMove(part.call.stage, call.stage)) return message
  draft.ops.push({ type: 'set', path: partPath(message.id, part.id, 'call'), value: asJson(call) })
  return { ...message, parts: message.parts.set(partIndex(partId, message.parts.length), { ...part, call }) }
}
