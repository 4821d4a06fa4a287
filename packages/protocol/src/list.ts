/**
 * A persistent list: `push` and `set` return a new list that shares all but a few nodes with the old one.
 *
 * State must never change under a listener that kept it, yet a message may hold 10,000 parts and receive 100,000
 * deltas. Copying an array per delta would make the cost grow with the message; here it is a copy of at most
 * `depth × 32` slots, and of the last 32 only for what happens at the end.
 */
const BITS = 5
const WIDTH = 1 << BITS
const MASK = WIDTH - 1

type Leaf<T> = readonly T[]
type Branch<T> = readonly Node<T>[]
type Node<T> = Leaf<T> | Branch<T>

export class List<T> implements Iterable<T> {
  /** Full leaves of 32, as a tree of `depth` levels; the remainder sits in `tail`. */
  private readonly root: Node<T> | undefined
  private readonly depth: number
  private readonly tail: Leaf<T>
  readonly length: number

  private constructor(root: Node<T> | undefined, depth: number, tail: Leaf<T>, length: number) {
    this.root = root
    this.depth = depth
    this.tail = tail
    this.length = length
  }

  private static readonly none: List<never> = new List<never>(undefined, 0, [], 0)

  static empty<T>(): List<T> {
    return List.none
  }

  static from<T>(items: Iterable<T>): List<T> {
    let tree: Tree<T> = { root: undefined, depth: 0 }
    let inTree = 0
    let tail: T[] = []
    for (const item of items) {
      if (tail.length === WIDTH) {
        tree = withLeaf(tree.root, tree.depth, inTree, tail)
        inTree += WIDTH
        tail = []
      }
      tail.push(item)
    }
    return tail.length === 0 ? List.empty() : new List(tree.root, tree.depth, tail, inTree + tail.length)
  }

  /** Counts from the end when negative, like `Array.prototype.at`. */
  at(index: number): T | undefined {
    const i = index < 0 ? index + this.length : index
    if (i < 0 || i >= this.length) return undefined
    const tailStart = this.length - this.tail.length
    if (i >= tailStart) return this.tail[i - tailStart]
    let node = this.root
    for (let level = this.depth; level > 0; level--) {
      node = (node as Branch<T>)[(i >>> (level * BITS)) & MASK]
    }
    return (node as Leaf<T>)[i & MASK]
  }

  push(item: T): List<T> {
    if (this.tail.length < WIDTH) {
      return new List(this.root, this.depth, [...this.tail, item], this.length + 1)
    }
    // A full tail stays outside the tree until another item follows, because changes happen at the end of the list.
    const { root, depth } = withLeaf(this.root, this.depth, this.length - WIDTH, this.tail)
    return new List(root, depth, [item], this.length + 1)
  }

  /** The list without its last item. */
  pop(): List<T> {
    if (this.length <= 1) return List.empty()
    if (this.tail.length > 1) return new List(this.root, this.depth, this.tail.slice(0, -1), this.length - 1)
    const { root, depth, leaf } = withoutLeaf(this.root as Node<T>, this.depth)
    return new List(root, depth, leaf, this.length - 1)
  }

  set(index: number, item: T): List<T> {
    if (!Number.isInteger(index) || index < 0 || index >= this.length) {
      throw new RangeError(`List.set: index ${index} is outside 0..${this.length - 1}`)
    }
    const tailStart = this.length - this.tail.length
    if (index >= tailStart) {
      const tail = this.tail.slice()
      tail[index - tailStart] = item
      return new List(this.root, this.depth, tail, this.length)
    }
    return new List(setIn(this.root as Node<T>, this.depth, index, item), this.depth, this.tail, this.length)
  }

  /** Searches from the end, because what a stream touches is nearly always there. */
  findLastIndex(matches: (item: T) => boolean): number {
    for (let i = this.length - 1; i >= 0; i--) {
      if (matches(this.at(i) as T)) return i
    }
    return -1
  }

  filter(keep: (item: T) => boolean): List<T> {
    return List.from([...this].filter(keep))
  }

  /**
   * Returns what `choose` picks from the items, in their order. `seen` remembers the results of nodes, so that what
   * lists share is searched once. Use one `seen` per `choose`.
   */
  pick<U>(choose: (item: T) => U | undefined, seen: WeakMap<object, readonly U[]>): readonly U[] {
    const last = pickIn<T, U>(this.tail, 0, choose, seen)
    return this.root === undefined ? last : [...pickIn(this.root, this.depth, choose, seen), ...last]
  }

  /** Nearly all lists are short and consist of the tail alone, so that array is iterated directly. */
  [Symbol.iterator](): IterableIterator<T> {
    return this.root === undefined ? this.tail.values() : this.all(this.root)
  }

  private *all(root: Node<T>): IterableIterator<T> {
    yield* leaves(root, this.depth)
    yield* this.tail
  }

  toArray(): T[] {
    return this.root === undefined ? this.tail.slice() : [...this]
  }

  toJSON(): T[] {
    return this.toArray()
  }
}

interface Tree<T> {
  readonly root: Node<T> | undefined
  readonly depth: number
}

/** Appends a full leaf to a tree that holds `length` items, all of them in full leaves. */
function withLeaf<T>(root: Node<T> | undefined, depth: number, length: number, leaf: Leaf<T>): Tree<T> {
  if (root === undefined) return { root: leaf, depth: 0 }
  const leafIndex = length >>> BITS
  const isFull = leafIndex === 1 << (depth * BITS)
  return isFull
    ? { root: [root, pathTo(leaf, depth)], depth: depth + 1 }
    : { root: addLeaf(root as Branch<T>, depth, leafIndex, leaf), depth }
}

function pathTo<T>(leaf: Leaf<T>, depth: number): Node<T> {
  let node: Node<T> = leaf
  for (let level = 0; level < depth; level++) node = [node]
  return node
}

function addLeaf<T>(node: Branch<T>, level: number, leafIndex: number, leaf: Leaf<T>): Branch<T> {
  const slot = (leafIndex >>> ((level - 1) * BITS)) & MASK
  const children = node.slice()
  const child = children[slot]
  children[slot] =
    level === 1 || child === undefined
      ? pathTo(leaf, level - 1)
      : addLeaf(child as Branch<T>, level - 1, leafIndex, leaf)
  return children
}

/** The tree without its last leaf, and that leaf. */
function withoutLeaf<T>(root: Node<T>, depth: number): Tree<T> & { readonly leaf: Leaf<T> } {
  let leaf = root
  for (let level = depth; level > 0; level--) leaf = (leaf as Branch<T>).at(-1) as Node<T>
  const rest = dropLeaf(root, depth)
  // Reverses what `withLeaf` does to a full tree.
  return depth > 0 && rest?.length === 1
    ? { root: rest[0] as Node<T>, depth: depth - 1, leaf: leaf as Leaf<T> }
    : { root: rest, depth, leaf: leaf as Leaf<T> }
}

function dropLeaf<T>(node: Node<T>, level: number): Node<T> | undefined {
  if (level === 0) return undefined
  const children = node as Branch<T>
  const last = dropLeaf(children.at(-1) as Node<T>, level - 1)
  if (last === undefined && children.length === 1) return undefined
  return last === undefined ? children.slice(0, -1) : [...children.slice(0, -1), last]
}

function setIn<T>(root: Node<T>, depth: number, index: number, item: T): Node<T> {
  const copy = root.slice()
  let node: (T | Node<T>)[] = copy
  for (let level = depth; level > 0; level--) {
    const slot = (index >>> (level * BITS)) & MASK
    const child = (node[slot] as Node<T>).slice()
    node[slot] = child
    node = child
  }
  node[index & MASK] = item
  return copy
}

function* leaves<T>(node: Node<T>, level: number): IterableIterator<T> {
  if (level === 0) {
    yield* node as Leaf<T>
    return
  }
  for (const child of node as Branch<T>) yield* leaves(child, level - 1)
}

function pickIn<T, U>(
  node: Node<T>,
  level: number,
  choose: (item: T) => U | undefined,
  seen: WeakMap<object, readonly U[]>,
): readonly U[] {
  const known = seen.get(node)
  if (known !== undefined) return known
  const picked =
    level > 0
      ? (node as Branch<T>).flatMap((child) => pickIn(child, level - 1, choose, seen))
      : (node as Leaf<T>).map(choose).filter((chosen) => chosen !== undefined)
  seen.set(node, picked)
  return picked
}
