import { createHash } from 'node:crypto'
import { BLOB_THRESHOLD, type BlobRef, type NewBlob, type RecordedToolResult } from '@evener/protocol'

const PREVIEW_CHARS = 512

/** A blob before its record has a seq. */
export type UnplacedBlob = Omit<NewBlob, 'seq'>

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

/** Takes a large result out of its record, which keeps the beginning of it. */
export function extractResult(result: RecordedToolResult): { body: RecordedToolResult; blobs: UnplacedBlob[] } {
  const isText = typeof result.result === 'string'
  const text = typeof result.result === 'string' ? result.result : JSON.stringify(result.result)
  if (Buffer.byteLength(text) <= BLOB_THRESHOLD) return { body: result, blobs: [] }
  const { ref, blob } = blobOf(Buffer.from(text), isText ? 'text/plain' : 'application/json', text)
  return { body: { ...result, result: null, resultRef: ref }, blobs: [blob] }
}
