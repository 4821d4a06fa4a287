/** A body kept apart from its record because it is large, found by the hash of its bytes. */
export interface BlobRef {
  /** SHA-256 of the bytes, in hex. */
  readonly blob: string
  readonly size: number
  readonly mime: string
  /** The beginning of a text, for lists and logs. */
  readonly preview?: string
}

/** Bodies above this many bytes are stored as blobs. */
export const BLOB_THRESHOLD: number = 32 * 1024
