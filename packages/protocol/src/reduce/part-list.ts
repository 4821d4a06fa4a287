import type { List } from '../list.ts'
import type { Part } from '../message.ts'

/** A gap this wide is not a replay out of order but a broken id. */
const MAX_GAP = 65_536

/** The position a part id stands for, or -1 when it is none. */
export function partIndex(partId: string, length: number): number {
  const index = Number(partId)
  if (!Number.isSafeInteger(index) || index < 0 || String(index) !== partId || index > length + MAX_GAP) return -1
  return index
}

/**
 * Puts a part at its place. Parts of one message may be sealed in another order than they began, so a replay can meet
 * the later one first: the places before it are held open until their own records come.
 */
export function putPart(parts: List<Part>, index: number, part: Part): List<Part> {
  let list = parts
  while (list.length < index) list = list.push({ id: String(list.length), type: 'text', text: '', state: 'open' })
  return index === list.length ? list.push(part) : list.set(index, part)
}
