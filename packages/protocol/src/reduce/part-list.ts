import type { List } from '../list.ts'
import type { Part } from '../message.ts'

/** A wider gap comes from a broken id, not from a replay out of order. */
const MAX_GAP = 65_536

/** Returns the position that a part id stands for, or -1 when the id is invalid. */
export function partIndex(partId: string, length: number): number {
  const index = Number(partId)
  if (!Number.isSafeInteger(index) || index < 0 || String(index) !== partId || index > length + MAX_GAP) return -1
  return index
}

/**
 * Puts a part at its position. Parts of one message may be sealed in another order than they began, so a replay can
 * meet a later one first. Placeholders then fill the positions before it until their own records come.
 */
export function putPart(parts: List<Part>, index: number, part: Part): List<Part> {
  let list = parts
  while (list.length < index) list = list.push({ id: String(list.length), type: 'text', text: '', state: 'open' })
  return index === list.length ? list.push(part) : list.set(index, part)
}
