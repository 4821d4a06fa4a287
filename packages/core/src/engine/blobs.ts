import { createHash } from 'node:crypto'
import {
  BLOB_THRESHOLD,
  type BlobRef,
  type JsonValue,
  type NewBlob,
  type Part,
  type RecordedToolResult,
  type Store,
  type StoredMessage,
  type ToolResultPart,
} from '@evener/protocol'

const PREVIEW_CHARS = 512

/** A blob before its record has a seq. */
export type UnplacedBlob = Omit<NewBlob, 'seq'> & {
  /** Which of the records that are committed together refers to it; the first when absent. */
  readonly of?: number
}

export function blobOf(bytes: Uint8Array, mime: string, preview?: string): { ref: BlobRef; blob: UnplacedBlob } {
  const hash = createHash('sha256').update(bytes).digest('hex')
  return {
    ref: {
      blob: hash,
      size: bytes.length,
      mime,
      ...(preview === undefined ? {} : { preview: preview.slice(0, PREVIEW_CHARS) }),
    },
    blob: { hash, mime, bytes },
  }
}

/** Takes large images and files out of a message, which keeps where they are. */
export function extractFiles(parts: readonly Part[], of: number): { parts: readonly Part[]; blobs: UnplacedBlob[] } {
  const blobs: UnplacedBlob[] = []
  const kept = parts.map((part): Part => {
    if ((part.type !== 'image' && part.type !== 'file') || part.data.length <= BLOB_THRESHOLD) return part
    const { ref, blob } = blobOf(Buffer.from(part.data, 'base64'), part.mimeType)
    blobs.push({ ...blob, of })
    return { ...part, data: '', ref }
  })
  return { parts: kept, blobs }
}

/** Takes a large result out of its record, which keeps the beginning of it. */
export function extractResult(result: RecordedToolResult): { body: RecordedToolResult; blobs: UnplacedBlob[] } {
  const isText = typeof result.result === 'string'
  const text = typeof result.result === 'string' ? result.result : JSON.stringify(result.result)
  if (Buffer.byteLength(text) <= BLOB_THRESHOLD) return { body: result, blobs: [] }
  const { ref, blob } = blobOf(Buffer.from(text), isText ? 'text/plain' : 'application/json', text)
  return { body: { ...result, result: null, resultRef: ref }, blobs: [blob] }
}

/** The message with its large bodies in place, as a model has to see it. */
export async function inflateMessage(store: Store, message: StoredMessage): Promise<StoredMessage> {
  if (!message.parts.some((part) => refOf(part) !== undefined)) return message
  return { ...message, parts: await Promise.all(message.parts.map((part) => inflatePart(store, part))) }
}

async function inflatePart(store: Store, part: Part): Promise<Part> {
  const ref = refOf(part)
  if (ref === undefined) return part
  const blob = await store.readBlob(ref.blob)
  if (part.type === 'tool-result') {
    const { resultRef: _ref, ...rest } = part
    return { ...rest, result: blob === null ? missing(ref) : resultOf(blob.bytes, blob.mime) }
  }
  return blob === null ? part : ({ ...part, data: Buffer.from(blob.bytes).toString('base64') } as Part)
}

function refOf(part: Part): BlobRef | undefined {
  if (part.type === 'tool-result') return part.resultRef
  return part.type === 'image' || part.type === 'file' ? part.ref : undefined
}

function resultOf(bytes: Uint8Array, mime: string): JsonValue {
  const text = new TextDecoder().decode(bytes)
  return mime === 'application/json' ? (JSON.parse(text) as JsonValue) : text
}

function missing(ref: BlobRef): ToolResultPart['result'] {
  return `${ref.preview ?? ''}… (the rest of ${ref.size} bytes is no longer kept)`
}
