import type { ShortenedText } from './here-documents.ts'
import { limits } from './limits.ts'
import type { Joiner, Nesting, Origin } from './reading.ts'
import { Refusal } from './refusal.ts'

/** Where in the text the walk is. */
export interface Frame {
  /** The text that positions point into, unless it was shortened. */
  readonly source: string
  readonly shortened: ShortenedText | null
  /** Positions are also positions in the text that was given. */
  readonly spans: boolean
  readonly parent: number | null
  readonly origin: Origin
  readonly nesting: readonly Nesting[]
  readonly wrappers: readonly string[]
  readonly depth: number
  /** The script is for a plain POSIX shell. */
  readonly posix: boolean
}

/** Where a command stands in its list and pipeline. */
export interface Place {
  readonly pipeline: number
  readonly stage: number
  readonly stages: number
  readonly joined: Joiner | null
  readonly negated: boolean
  readonly background: boolean
}

/** `source` is set when a script is read. */
export function topFrame(posix: boolean): Frame {
  return {
    source: '',
    shortened: null,
    spans: true,
    parent: null,
    origin: 'text',
    nesting: [],
    wrappers: [],
    depth: 0,
    posix,
  }
}

export function within(frame: Frame, nesting: Nesting): Frame {
  return deeper({ ...frame, nesting: [...frame.nesting, nesting] })
}

/** One level down, or not at all: what is nested too deeply is refused, never skipped. */
export function deeper(frame: Frame): Frame {
  if (frame.depth >= limits.depth) throw new Refusal(`nested more than ${limits.depth} levels deep`)
  return { ...frame, depth: frame.depth + 1 }
}
