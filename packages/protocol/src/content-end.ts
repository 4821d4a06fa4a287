import type { OmPointer } from './control-record.ts'

/** Returns the seq up to which a memory may hold or replace content. */
export function contentEnd({ contentTo = 0, coversTo }: OmPointer): number {
  return Math.max(coversTo, contentTo)
}
