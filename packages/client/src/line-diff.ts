export interface DiffLine {
  readonly kind: 'same' | 'added' | 'removed'
  readonly text: string
}

/** Above this many pairs of lines, the middle of a change is shown as removed and added without looking for more. */
const MOST_PAIRS = 1_000_000

/** Returns the lines of two texts as a diff: common beginning and end, and the longest common part between them. */
export function lineDiff(before: string, after: string): readonly DiffLine[] {
  // Where only one of the texts ends its last line, that is the change, so both are taken as they are.
  const isEnded = [before, after].every((text) => text === '' || text.endsWith('\n'))
  const [old, fresh] = [linesOf(before, isEnded), linesOf(after, isEnded)]
  let start = 0
  while (start < old.length && start < fresh.length && old[start] === fresh[start]) start++
  let end = 0
  while (end < old.length - start && end < fresh.length - start && old.at(-1 - end) === fresh.at(-1 - end)) end++
  const same = (lines: readonly string[]): DiffLine[] => lines.map((text) => ({ kind: 'same', text }))
  return [
    ...same(old.slice(0, start)),
    ...middle(old.slice(start, old.length - end), fresh.slice(start, fresh.length - end)),
    ...same(end === 0 ? [] : old.slice(-end)),
  ]
}

function linesOf(text: string, isEnded: boolean): readonly string[] {
  if (text === '') return []
  return (isEnded ? text.slice(0, -1) : text).split('\n')
}

function middle(old: readonly string[], fresh: readonly string[]): readonly DiffLine[] {
  const removed = old.map((text): DiffLine => ({ kind: 'removed', text }))
  const added = fresh.map((text): DiffLine => ({ kind: 'added', text }))
  if (old.length * fresh.length > MOST_PAIRS || old.length === 0 || fresh.length === 0) return [...removed, ...added]
  const width = fresh.length + 1
  const longest = new Uint32Array((old.length + 1) * width)
  for (let i = old.length - 1; i >= 0; i--) {
    for (let j = fresh.length - 1; j >= 0; j--) {
      longest[i * width + j] =
        old[i] === fresh[j]
          ? (longest[(i + 1) * width + j + 1] ?? 0) + 1
          : Math.max(longest[(i + 1) * width + j] ?? 0, longest[i * width + j + 1] ?? 0)
    }
  }
  const lines: DiffLine[] = []
  let [i, j] = [0, 0]
  while (i < old.length && j < fresh.length) {
    if (old[i] === fresh[j]) {
      lines.push({ kind: 'same', text: old[i] ?? '' })
      i++
      j++
    } else if ((longest[(i + 1) * width + j] ?? 0) >= (longest[i * width + j + 1] ?? 0)) {
      lines.push(removed[i++] as DiffLine)
    } else lines.push(added[j++] as DiffLine)
  }
  return [...lines, ...removed.slice(i), ...added.slice(j)]
}
