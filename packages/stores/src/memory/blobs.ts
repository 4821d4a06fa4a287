import type { Lineage } from '@inspan/protocol/log'
import type { Blob, NewBlob } from '@inspan/protocol/store'
import { checkHash } from '../shared/input-checks.ts'
import { noSuchBlob } from '../shared/store-errors.ts'
import { stretchesOf } from '../shared/stretches.ts'
import type { MemoryState, MemoryStream } from './memory-state.ts'

export function checkBlobs(state: MemoryState, blobs: readonly NewBlob[]): void {
  const given = new Set<string>()
  for (const blob of blobs) {
    if (blob.bytes !== undefined) given.add(blob.hash)
    else if (!state.blobs.has(blob.hash) && !given.has(blob.hash)) throw noSuchBlob(blob.hash)
  }
}

export function putBlobs(state: MemoryState, stream: MemoryStream, blobs: readonly NewBlob[]): void {
  for (const { hash, mime, bytes, seq } of blobs) {
    const [known] = stream.blobRefs.range(seq, seq)
    if (known?.hashes.has(hash) === true) continue
    const stored = state.blobs.get(hash) ?? { mime, bytes: Uint8Array.from(bytes ?? []), refs: 0 }
    stored.refs++
    state.blobs.set(hash, stored)
    stream.blobRefs.put(seq, { seq, hashes: new Set([...(known?.hashes ?? []), hash]) })
  }
}

export function readBlob(state: MemoryState, hash: string, lineage?: Lineage): Blob | null {
  checkHash(hash)
  if (lineage !== undefined && !refersTo(state, lineage, hash)) return null
  const blob = state.blobs.get(hash)
  return blob === undefined ? null : { hash, mime: blob.mime, bytes: Uint8Array.from(blob.bytes) }
}

function refersTo(state: MemoryState, lineage: Lineage, hash: string): boolean {
  return stretchesOf(lineage).some(({ from, stream, to }) =>
    state.streams
      .get(stream)
      ?.blobRefs.range(from, to)
      .some(({ hashes }) => hashes.has(hash)),
  )
}

/** Returns how many blobs lost their last reference. */
export function dropBlobRefs(state: MemoryState, stream: MemoryStream, range: { from: number; to: number }): number {
  let dropped = 0
  for (const { hashes } of stream.blobRefs.remove(range.from, range.to)) {
    for (const hash of hashes) {
      const blob = state.blobs.get(hash)
      if (blob === undefined || --blob.refs > 0) continue
      state.blobs.delete(hash)
      dropped++
    }
  }
  return dropped
}
