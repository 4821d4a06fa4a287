import type { PathPattern } from '../patterns/path-pattern.ts'
import { ANY, ONE, type Wildcard } from '../patterns/wildcard.ts'

/** A fixed part of a name in a rule, and whether more may come before or after it. */
interface Fixed {
  readonly text: string
  readonly isOpenBefore: boolean
  readonly isOpenAfter: boolean
}

/** Returns whether a name in a rule can be made of two or more of these texts, each in lower case. */
export function canBeMade({ segments }: PathPattern, pieces: readonly string[]): boolean {
  return segments.some(
    (segment) => segment !== ANY && segment !== ONE && isMadeOf(longestFixed(segment.folded), pieces),
  )
}

function longestFixed(name: Wildcard): Fixed {
  let longest: Fixed = { text: '', isOpenBefore: false, isOpenAfter: false }
  let start = 0
  for (let at = 0; at <= name.length; at += 1) {
    if (at < name.length && typeof name[at] === 'string') continue
    const text = name.slice(start, at).join('')
    if (text.length > longest.text.length) longest = { text, isOpenBefore: start > 0, isOpenAfter: at < name.length }
    start = at + 1
  }
  return longest
}

/** The first text may begin with folders, and the last one may end with some. */
function isMadeOf({ isOpenAfter, isOpenBefore, text }: Fixed, pieces: readonly string[]): boolean {
  const begins = (length: number): boolean => {
    const front = text.slice(0, length)
    return pieces.some((piece) => (isOpenBefore ? piece.endsWith(front) : lastName(piece) === front))
  }
  const ends = (from: number): boolean => {
    const rest = text.slice(from)
    return pieces.some((piece) => (isOpenAfter ? piece.startsWith(rest) : firstName(piece) === rest))
  }
  const reached = new Set<number>()
  for (let length = 1; length < text.length; length += 1) if (begins(length)) reached.add(length)
  // The set grows during the loop, which visits the new members as well.
  for (const at of reached) {
    if (ends(at)) return true
    for (const piece of pieces) {
      if (at + piece.length < text.length && text.startsWith(piece, at)) reached.add(at + piece.length)
    }
  }
  return false
}

function lastName(path: string): string {
  return path.slice(path.lastIndexOf('/') + 1)
}

function firstName(path: string): string {
  return path.split('/', 1)[0] ?? ''
}
