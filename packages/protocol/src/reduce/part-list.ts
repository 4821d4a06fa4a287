import type { List } from '../list.ts'
import type { Part } from '../message.ts'

/** A wider gap comes from a broken id, not from a replay out of order. */
const MAX_GAP = 65_536

/** Returns the position of a part id, or -1 when the id is invalid. */
export function partIndex(partId: string, length: number): number {
  if (partId === '' || (partId.length > 1 && partId.startsWith('0'))) return -1
  // Digit by digit: every delta passes here, and turning a text into a number and back costs more than the rest.
  let index = 0
  for (let at = 0; at < partId.length; at++) {
    const digit = partId.charCodeAt(at) - 48
    if (digit < 0 || digit > 9) return -1
    index = index * 10 + digit
    if (index > length + MAX_GAP) return -1
  }
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
