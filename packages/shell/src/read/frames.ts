import type { ShortenedText } from './here-documents.ts'
import { limits } from './limits.ts'
import type { Joiner, Nesting, Origin } from './reading.ts'
import { Refusal } from './refusal.ts'

/** The position of the walk in the text. */
export interface Frame {
  /** The text that positions refer to, unless it was shortened. */
  readonly source: string
  readonly shortened: ShortenedText | null
  /** Positions are also valid in the text passed to `readCommand`. */
  readonly spans: boolean
  readonly parent: number | null
  readonly origin: Origin
  readonly nesting: readonly Nesting[]
  readonly wrappers: readonly string[]
  readonly depth: number
  /** The script runs in a plain POSIX shell. */
  readonly posix: boolean
}

/** The position of a command in its list and pipeline. */
export interface FramePlace {
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

/** Returns the frame one level deeper. What is nested too deeply is refused, never skipped. */
export function deeper(frame: Frame): Frame {
  if (frame.depth >= limits.depth) throw new Refusal(`nested more than ${limits.depth} levels deep`)
  return { ...frame, depth: frame.depth + 1 }
}
