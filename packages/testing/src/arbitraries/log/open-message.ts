import type { CallOutcome, EventMeta, FileEvent, JsonObject, JsonValue, NativeRef } from '@inspan/protocol'
import type { BatchEvent, PartAddress } from '@inspan/protocol/log'
import type { LogWriter, PendingWait } from './writer.ts'

type MadePartKind = 'text' | 'reasoning' | 'tool-call' | 'tool-result'

export interface GeneratedCall {
  readonly toolCallId: string
  readonly toolName: string
  readonly args: JsonObject
  readonly address: PartAddress
  stage: 'coming' | 'ordered' | 'started' | 'ended'
  attempt: number
  wait: PendingWait | null
  resultPart: GeneratedPart | null
}

export interface GeneratedPart {
  readonly kind: MadePartKind
  readonly partId: string
  readonly call: GeneratedCall | null
  readonly native: NativeRef | null
  text: string
  /** The seq of the part's oldest batch. */
  first: number | null
  isSealed: boolean
}

export interface OpenMessage {
  readonly id: string
  readonly parentToolCallId: string | null
  readonly parts: GeneratedPart[]
  readonly calls: GeneratedCall[]
}

export interface Seal {
  /** The agent's words after the last batch. */
  readonly tail: string
  /** The part was cut off. */
  readonly cut: boolean
  /** The words were replaced before the part was sealed. */
  readonly redacted: boolean
}

export const WHOLE: Seal = { tail: '', cut: false, redacted: false }

export function openMessage(log: LogWriter, parent: GeneratedCall | null): OpenMessage {
  const id = log.newId('m')
  const step = log.run?.step ?? 0
  log.append({
    type: 'message.started',
    messageId: id,
    role: 'assistant',
    step,
    ...(parent === null ? {} : { parentToolCallId: parent.toolCallId }),
  })
  const message: OpenMessage = { id, parentToolCallId: parent?.toolCallId ?? null, parts: [], calls: [] }
  log.messages.push(message)
  return message
}

export function addPart(
  message: OpenMessage,
  kind: MadePartKind,
  options: { readonly call?: GeneratedCall; readonly native?: NativeRef | null } = {},
): GeneratedPart {
  const part: GeneratedPart = {
    kind,
    partId: String(message.parts.length),
    call: options.call ?? null,
    native: options.native ?? null,
    text: '',
    first: null,
    isSealed: false,
  }
  message.parts.push(part)
  return part
}

/** A file comes whole, so its part is never open. */
export function addFile(
  log: LogWriter,
  message: OpenMessage,
  { mimeType, data, fileName, meta, url }: FileEvent,
): void {
  const part = addPart(message, 'text')
  part.isSealed = true
  const more = { ...(fileName === undefined ? {} : { fileName }), ...(meta === undefined ? {} : { meta }) }
  const where = url === undefined ? { data } : { data: '', url }
  log.append({ ...partFields(message, part), type: 'file', mimeType, ...where, ...more })
}

export function addCall(log: LogWriter, message: OpenMessage, toolName: string, args: JsonObject): GeneratedPart {
  const address: PartAddress = { messageId: message.id, partId: String(message.parts.length) }
  const call: GeneratedCall = {
    toolCallId: log.newId('c'),
    toolName,
    args,
    address,
    stage: 'coming',
    attempt: 0,
    wait: null,
    resultPart: null,
  }
  message.calls.push(call)
  return addPart(message, 'tool-call', { call })
}

export function addResultPart(message: OpenMessage, call: GeneratedCall): GeneratedPart {
  call.resultPart ??= addPart(message, 'tool-result', { call })
  return call.resultPart
}

/** Writes what accumulated of the part since its last batch. */
export function batch(log: LogWriter, message: OpenMessage, part: GeneratedPart, text: string): void {
  const seq = log.append({ type: 'batch', event: batchEvent(message, part, text) })
  part.first ??= seq
  part.text += text
}

function batchEvent(message: OpenMessage, part: GeneratedPart, text: string): BatchEvent {
  const base = partFields(message, part)
  switch (part.kind) {
    case 'text':
      return { ...base, type: 'text-delta', text }
    case 'reasoning':
      return { ...base, type: 'reasoning-delta', text }
    case 'tool-call':
      return { ...base, type: 'tool-call-delta', ...callNames(part), argsTextDelta: text }
    case 'tool-result':
      return { ...base, type: 'tool-progress', ...callNames(part), output: text }
  }
}

/** Seals a text, a reasoning or a call's input. */
export function seal(log: LogWriter, message: OpenMessage, part: GeneratedPart, how: Seal): void {
  if (part.isSealed || part.kind === 'tool-result') return
  part.isSealed = true
  const text = how.redacted ? '[redacted]' : part.text + how.tail
  const meta: EventMeta | null = how.cut ? { interrupted: true } : null
  const base = { ...partFields(message, part), ...(meta === null ? {} : { meta }) }
  const more = part.first === null ? {} : { first: part.first }
  if (part.call === null) {
    log.append({ ...base, type: part.kind === 'text' ? 'text-delta' : 'reasoning-delta', text }, more)
  } else {
    part.call.stage = 'ordered'
    log.append({ ...base, type: 'tool-call', ...callNames(part), args: part.call.args }, more)
  }
}

/** Records a call's result, in the call's message or in a separate one. */
export function endCall(
  log: LogWriter,
  message: OpenMessage,
  call: GeneratedCall,
  result: { readonly value: JsonValue; readonly outcome: CallOutcome; readonly isApart: boolean },
): void {
  if (call.stage === 'coming' || call.stage === 'ended') return
  call.stage = 'ended'
  const home = result.isApart && call.resultPart === null ? toolMessage(log) : message
  const part = addResultPart(home, call)
  part.isSealed = true
  log.append(
    {
      ...partFields(home, part),
      type: 'tool-result',
      ...callNames(part),
      result: result.value,
      ...(result.outcome === 'ok' ? {} : { isError: true }),
      ...(home === message && result.outcome === 'ok' ? {} : { call: call.address, outcome: result.outcome }),
    },
    part.first === null ? {} : { first: part.first },
  )
  if (home !== message) log.append({ type: 'message.ended', messageId: home.id, outcome: 'done' })
}

function toolMessage(log: LogWriter): OpenMessage {
  const id = log.newId('m')
  log.append({ type: 'message.started', messageId: id, role: 'tool' })
  return { id, parentToolCallId: null, parts: [], calls: [] }
}

function partFields(
  message: OpenMessage,
  part: GeneratedPart,
): PartAddress & { readonly parentToolCallId?: string; readonly native?: NativeRef } {
  return {
    messageId: message.id,
    partId: part.partId,
    ...(message.parentToolCallId === null ? {} : { parentToolCallId: message.parentToolCallId }),
    ...(part.native === null ? {} : { native: part.native }),
  }
}

function callNames(part: GeneratedPart): { readonly toolCallId: string; readonly toolName: string } {
  return { toolCallId: part.call?.toolCallId ?? '', toolName: part.call?.toolName ?? '' }
}
