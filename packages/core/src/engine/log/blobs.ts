import { createHash } from 'node:crypto'
import {
  BLOB_THRESHOLD,
  type BlobRef,
  type JsonValue,
  type Part,
  type StepRequest,
  type StoredMessage,
} from '@inspan/protocol'
import type { Lineage, RecordBody, RecordedToolResult, RequestRef } from '@inspan/protocol/log'
import type { Blob, NewBlob, Store } from '@inspan/protocol/store'

const PREVIEW_CHARS = 512

/** The type of a blob that holds the encoded form of an image or a file, not its bytes. */
const AS_WRITTEN = 'text/vnd.as-written'

/** A blob before its record has a seq. */
export type UnplacedBlob = Omit<NewBlob, 'seq'> & {
  /** The index of the record, among those committed together, that refers to the blob. Default: the first. */
  readonly of?: number
}

/** A record without its large contents, which are stored as blobs. */
export interface Extracted<Body> {
  readonly body: Body
  readonly blobs: readonly Omit<NewBlob, 'seq'>[]
}

export function blobOf(bytes: Uint8Array, mime: string): { ref: BlobRef; blob: UnplacedBlob } {
  const hash = createHash('sha256').update(bytes).digest('hex')
  return { ref: { blob: hash, size: bytes.length, mime }, blob: { hash, mime, bytes } }
}

/** Stores well-formed text as it is and everything else as JSON: a lone surrogate survives only as an escape. */
function jsonBlob(value: JsonValue): { ref: BlobRef; blob: UnplacedBlob } {
  return typeof value === 'string' && value.isWellFormed()
    ? blobOf(Buffer.from(value), 'text/plain')
    : blobOf(Buffer.from(JSON.stringify(value)), 'application/json')
}

/** The requests of the last steps: mostly the tools and instructions of the next step are the same. */
const recent = new Map<string, ReturnType<typeof blobOf>>()
const MOST_RECENT = 16

function requestBlob(value: JsonValue): ReturnType<typeof blobOf> {
  const text = JSON.stringify(value)
  const known = recent.get(text)
  if (known !== undefined) return known
  const made = jsonBlob(value)
  if (recent.size >= MOST_RECENT) recent.delete(recent.keys().next().value ?? '')
  recent.set(text, made)
  return made
}

/** Returns the value that `jsonBlob` was given. */
function valueOf({ bytes, mime }: Pick<Blob, 'bytes' | 'mime'>): JsonValue {
  const text = new TextDecoder('utf-8', { ignoreBOM: true }).decode(bytes)
  return mime === 'application/json' ? (JSON.parse(text) as JsonValue) : text
}

/** Moves large contents into blobs. Every record passes here on its way into the log, so no writer can forget it. */
export function extractBody(body: RecordBody): Extracted<RecordBody> {
  switch (body.type) {
    case 'message.added': {
      const { parts, blobs } = extractParts(body.parts)
      return { body: blobs.length === 0 ? body : { ...body, parts }, blobs }
    }
    case 'queue.added': {
      const { parts, blobs } = extractParts(body.item.parts)
      return { body: blobs.length === 0 ? body : { ...body, item: { ...body.item, parts } }, blobs }
    }
    case 'file':
      return extractMedia(body)
    case 'tool-result':
      return extractResult(body)
    default:
      return { body, blobs: [] }
  }
}

function extractParts(parts: readonly Part[]): { parts: readonly Part[]; blobs: Extracted<Part>['blobs'] } {
  const blobs: Omit<NewBlob, 'seq'>[] = []
  const kept = parts.map((part) => {
    const extracted = extractPart(part)
    blobs.push(...extracted.blobs)
    return extracted.body
  })
  return { parts: kept, blobs }
}

function extractPart(part: Part): Extracted<Part> {
  if (part.type === 'text' && Buffer.byteLength(part.text) > BLOB_THRESHOLD) {
    const { ref, blob } = jsonBlob(part.text)
    return { body: { ...part, text: beginningOf(part.text), ref }, blobs: [blob] }
  }
  if ((part.type === 'image' || part.type === 'file') && part.data.length > BLOB_THRESHOLD) return extractMedia(part)
  // A part of a queued message is extracted already; its blob belongs to the message it becomes as well.
  const ref = refOf(part)
  return { body: part, blobs: ref === undefined ? [] : [{ hash: ref.blob, mime: ref.mime }] }
}

function extractMedia<Media extends { mimeType: string; data: string; ref?: BlobRef }>(media: Media): Extracted<Media> {
  if (media.data.length <= BLOB_THRESHOLD) return { body: media, blobs: [] }
  const bytes = Buffer.from(media.data, 'base64')
  // A data URL, base64url or base64 without padding is stored as written, so that it comes back the same.
  const isPlain = bytes.toString('base64') === media.data
  const { ref, blob } = isPlain ? blobOf(bytes, media.mimeType) : blobOf(Buffer.from(media.data), AS_WRITTEN)
  return { body: { ...media, data: '', ref }, blobs: [blob] }
}

function extractResult(given: RecordedToolResult): Extracted<RecordedToolResult> {
  const { body: result, blobs } = extractShown(given)
  const text = typeof result.result === 'string' ? result.result : JSON.stringify(result.result)
  if (Buffer.byteLength(text) <= BLOB_THRESHOLD) return { body: result, blobs }
  const { ref, blob } = jsonBlob(result.result)
  return {
    body: { ...result, result: null, resultRef: { ...ref, preview: beginningOf(text) } },
    blobs: [...blobs, blob],
  }
}

/** Extracts what a tool shows the model instead of its result, most likely an image. */
function extractShown(result: RecordedToolResult): Extracted<RecordedToolResult> {
  const { modelOutput, ...meta } = result.meta ?? {}
  if (modelOutput === undefined || Buffer.byteLength(JSON.stringify(modelOutput)) <= BLOB_THRESHOLD) {
    return { body: result, blobs: [] }
  }
  const { ref, blob } = jsonBlob(modelOutput)
  return { body: { ...result, meta: { ...meta, modelOutputRef: { ...ref } } }, blobs: [blob] }
}

/** Extracts the request of a step, whatever its size: most likely the next step has the same. */
export function extractRequest(request: StepRequest): Extracted<RequestRef> {
  const system = request.system === undefined ? undefined : requestBlob(request.system)
  const tools = request.tools === undefined ? undefined : requestBlob(request.tools)
  return {
    body: {
      ...(system === undefined ? {} : { system: system.ref }),
      ...(tools === undefined ? {} : { tools: tools.ref }),
      ...(request.model === undefined ? {} : { model: request.model }),
    },
    blobs: [...(system === undefined ? [] : [system.blob]), ...(tools === undefined ? [] : [tools.blob])],
  }
}

/**
 * Returns the message with its large contents in place, as a model has to see it. Contents that no record of the
 * lineage has stored count as gone: a reference alone, which any agent can write, opens no other thread.
 */
export async function inflateMessage(store: Store, lineage: Lineage, message: StoredMessage): Promise<StoredMessage> {
  const parts = await inflateParts(store, lineage, message.parts)
  return parts === message.parts ? message : { ...message, parts }
}

export async function inflateParts(store: Store, lineage: Lineage, parts: readonly Part[]): Promise<readonly Part[]> {
  if (!parts.some((part) => refOf(part) !== undefined || shownRef(part) !== undefined)) return parts
  return Promise.all(parts.map(async (part) => inflateShown(store, lineage, await inflatePart(store, lineage, part))))
}

function shownRef(part: Part): BlobRef | undefined {
  return part.type === 'tool-result' ? (part.meta?.['modelOutputRef'] as BlobRef | undefined) : undefined
}

/** Restores `modelOutput`. If its blob is gone, the model sees the result itself. */
async function inflateShown(store: Store, lineage: Lineage, part: Part): Promise<Part> {
  const ref = shownRef(part)
  if (ref === undefined) return part
  const blob = await store.readBlob(ref.blob, lineage)
  const { modelOutputRef: _ref, ...meta } = part.meta ?? {}
  return { ...part, meta: blob === null ? meta : { ...meta, modelOutput: valueOf(blob) } }
}

async function inflatePart(store: Store, lineage: Lineage, part: Part): Promise<Part> {
  const ref = refOf(part)
  if (ref === undefined) return part
  const blob = await store.readBlob(ref.blob, lineage)
  if (part.type === 'tool-result') {
    const { resultRef: _ref, ...rest } = part
    return { ...rest, result: blob === null ? missing(ref, ref.preview) : valueOf(blob) }
  }
  if (part.type === 'text') {
    const { ref: _ref, ...rest } = part
    return { ...rest, text: blob === null ? missing(ref, part.text) : textOf(blob) }
  }
  const encoding = ref.mime === AS_WRITTEN ? 'utf8' : 'base64'
  return blob === null ? part : ({ ...part, data: Buffer.from(blob.bytes).toString(encoding) } as Part)
}

function refOf(part: Part): BlobRef | undefined {
  if (part.type === 'tool-result') return part.resultRef
  return part.type === 'image' || part.type === 'file' || part.type === 'text' ? part.ref : undefined
}

/** Returns the system prompt and tools of a step; without those that were not recorded or are erased. */
export async function inflateRequest(store: Store, lineage: Lineage, ref: RequestRef): Promise<StepRequest> {
  const system = ref.system === undefined ? null : await store.readBlob(ref.system.blob, lineage)
  const tools = ref.tools === undefined ? null : await store.readBlob(ref.tools.blob, lineage)
  return {
    ...(system === null ? {} : { system: textOf(system) }),
    ...(tools === null ? {} : { tools: valueOf(tools) }),
    ...(ref.model === undefined ? {} : { model: ref.model }),
  }
}

function textOf(blob: Blob): string {
  const value = valueOf(blob)
  return typeof value === 'string' ? value : JSON.stringify(value)
}

function missing(ref: BlobRef, beginning = ''): string {
  return `${beginning}… (the rest of ${ref.size} bytes is no longer kept)`
}

/** Returns the preview of a text, not cut inside a surrogate pair. */
function beginningOf(text: string): string {
  const end = /[\uD800-\uDBFF]/.test(text[PREVIEW_CHARS - 1] ?? '') ? PREVIEW_CHARS - 1 : PREVIEW_CHARS
  return text.slice(0, end)
}
