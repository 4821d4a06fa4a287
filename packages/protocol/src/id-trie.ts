/**
 * A persistent trie over the hashes of ids. `put` and `cut` return a new trie that shares all but the few nodes on the
 * path with the old one. Two tries with the same items have the same shape, so comparing them compares their items.
 */
const BITS = 4
const MASK = (1 << BITS) - 1
/** Below this level the hash is used up: the remaining items have the same hash and differ by id only. */
const DEEPEST = 28

export interface WithId {
  readonly id: string
}

/** `bits` says which of the 16 slots are taken. `slots` holds the taken ones without gaps. */
export interface IdTrie<T extends WithId> {
  readonly bits: number
  readonly slots: readonly (T | IdTrie<T>)[]
}

const NOTHING: IdTrie<never> = { bits: 0, slots: [] }

export function emptyTrie<T extends WithId>(): IdTrie<T> {
  return NOTHING
}

export function findIn<T extends WithId>(trie: IdTrie<T>, id: string): T | undefined {
  if (trie.slots.length === 0) return undefined
  const hash = hashOf(id)
  let node = trie
  for (let shift = 0; shift <= DEEPEST; shift += BITS) {
    const bit = bitAt(hash, shift)
    if ((node.bits & bit) === 0) return undefined
    const slot = node.slots[countBits(node.bits & (bit - 1))]
    if (slot === undefined) return undefined
    if (!isNode(slot)) return slot.id === id ? slot : undefined
    node = slot
  }
  return (node.slots as readonly T[]).find((item) => item.id === id)
}

/** Adds the item, or replaces the one with its id. */
export function put<T extends WithId>(trie: IdTrie<T>, item: T): IdTrie<T> {
  return putAt(trie, 0, hashOf(item.id), item)
}

/** The trie without the item of this id. */
export function cut<T extends WithId>(trie: IdTrie<T>, id: string): IdTrie<T> {
  const rest = cutAt(trie, 0, hashOf(id), id)
  if (rest === undefined) return emptyTrie()
  return isNode(rest) ? rest : put(emptyTrie<T>(), rest)
}

/** Replaces the item of this id, if there is one. The new item must have the same id. */
export function alter<T extends WithId>(trie: IdTrie<T>, id: string, change: (item: T) => T): IdTrie<T> {
  return alterAt(trie, 0, hashOf(id), id, change)
}

function alterAt<T extends WithId>(
  node: IdTrie<T>,
  shift: number,
  hash: number,
  id: string,
  change: (item: T) => T,
): IdTrie<T> {
  const bit = bitAt(hash, shift)
  const isUsedUp = shift > DEEPEST
  const at = isUsedUp
    ? (node.slots as readonly T[]).findIndex((item) => item.id === id)
    : countBits(node.bits & (bit - 1))
  const slot = node.slots[at]
  if (slot === undefined || (!isUsedUp && (node.bits & bit) === 0)) return node
  if (!isNode(slot) && slot.id !== id) return node
  const slots = node.slots.slice()
  slots[at] = isNode(slot) ? alterAt(slot, shift + BITS, hash, id, change) : change(slot)
  return { bits: node.bits, slots }
}

/** Replaces every item by one with the same id. */
export function mapTrie<T extends WithId>(trie: IdTrie<T>, change: (item: T) => T): IdTrie<T> {
  return { bits: trie.bits, slots: trie.slots.map((slot) => (isNode(slot) ? mapTrie(slot, change) : change(slot))) }
}

function putAt<T extends WithId>(node: IdTrie<T>, shift: number, hash: number, item: T): IdTrie<T> {
  if (shift > DEEPEST) {
    const others = (node.slots as readonly T[]).filter((other) => other.id !== item.id)
    return { bits: 0, slots: [...others, item].sort((a, b) => (a.id < b.id ? -1 : 1)) }
  }
  const bit = bitAt(hash, shift)
  const at = countBits(node.bits & (bit - 1))
  const slot = node.slots[at]
  if ((node.bits & bit) === 0 || slot === undefined) {
    const slots = node.slots.slice()
    slots.splice(at, 0, item)
    return { bits: node.bits | bit, slots }
  }
  const slots = node.slots.slice()
  slots[at] = inPlaceOf(slot, shift + BITS, hash, item)
  return { bits: node.bits, slots }
}

function inPlaceOf<T extends WithId>(slot: T | IdTrie<T>, shift: number, hash: number, item: T): T | IdTrie<T> {
  if (isNode(slot)) return putAt(slot, shift, hash, item)
  if (slot.id === item.id) return item
  return putAt(putAt(emptyTrie<T>(), shift, hashOf(slot.id), slot), shift, hash, item)
}

/** A node with only one item left is replaced by that item. */
function cutAt<T extends WithId>(node: IdTrie<T>, shift: number, hash: number, id: string): T | IdTrie<T> | undefined {
  if (shift > DEEPEST) return lifted({ bits: 0, slots: (node.slots as readonly T[]).filter((item) => item.id !== id) })
  const bit = bitAt(hash, shift)
  const at = countBits(node.bits & (bit - 1))
  const slot = node.slots[at]
  if ((node.bits & bit) === 0 || slot === undefined) return node
  const slots = node.slots.slice()
  if (!isNode(slot)) {
    if (slot.id !== id) return node
    slots.splice(at, 1)
    return lifted({ bits: node.bits & ~bit, slots })
  }
  const rest = cutAt(slot, shift + BITS, hash, id)
  if (rest === undefined || rest === slot) return node
  slots[at] = rest
  return lifted({ bits: node.bits, slots })
}

function lifted<T extends WithId>(node: IdTrie<T>): T | IdTrie<T> | undefined {
  const [only] = node.slots
  return node.slots.length > 1 || (only !== undefined && isNode(only)) ? node : only
}

function isNode<T extends WithId>(slot: T | IdTrie<T>): slot is IdTrie<T> {
  return 'slots' in slot
}

function bitAt(hash: number, shift: number): number {
  return 1 << ((hash >>> shift) & MASK)
}

function countBits(bits: number): number {
  let count = bits - ((bits >>> 1) & 0x55555555)
  count = (count & 0x33333333) + ((count >>> 2) & 0x33333333)
  return Math.imul((count + (count >>> 4)) & 0x0f0f0f0f, 0x01010101) >>> 24
}

/** FNV-1a, with its upper bits mixed into the lower ones that are used first. */
function hashOf(id: string): number {
  let hash = 0x811c9dc5
  for (let i = 0; i < id.length; i++) hash = Math.imul(hash ^ id.charCodeAt(i), 0x01000193)
  return hash ^ (hash >>> 15)
}
