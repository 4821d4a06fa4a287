import { parse } from 'unbash'

import { suspiciousCharacters } from './characters.ts'
import { Collector } from './collector.ts'
import { startDirectory } from './directory.ts'
import type { Directory } from './directory.ts'
import { topFrame } from './frames.ts'
import type { Frame } from './frames.ts'
import { shorten } from './here-documents.ts'
import { limits, tooDense } from './limits.ts'
import { checkPosix } from './posix.ts'
import type { ReadOptions, ShellReading } from './reading.ts'
import { Refusal } from './refusal.ts'
import { walkScript } from './walk.ts'

interface ReadingToEnd {
  readonly reading: ShellReading
  /** The directory of the shell at the end of the text; null when not known. */
  readonly end: string | null
}

/**
 * Returns everything a command text would run, without running it. Never throws. A text that cannot be read to its end
 * is refused as a whole, because a part of it could look harmless.
 */
export function readCommand(text: string, options: ReadOptions = {}): ShellReading {
  return readToEnd(text, options).reading
}

let lastRead: (ReadingToEnd & { readonly text: string; readonly cwd: string | undefined }) | undefined

/** Keeps the last reading, because callers ask what a command does and then which directory it leads to. */
export function readOnce(text: string, cwd: string | undefined): ReadingToEnd {
  if (lastRead === undefined || lastRead.text !== text || lastRead.cwd !== cwd) {
    lastRead = { ...readToEnd(text, cwd === undefined ? {} : { cwd }), text, cwd }
  }
  return lastRead
}

function readToEnd(text: string, options: ReadOptions): ReadingToEnd {
  const collector: Collector = new Collector((script, frame, directory) =>
    readScript(collector, script, frame, directory),
  )
  const directory = startDirectory(options.cwd)
  try {
    readScript(collector, text, topFrame(options.shell === 'sh'), directory)
    const reading: ShellReading = { ok: true, commands: collector.commands, suspicious: collector.suspicious }
    return { reading, end: directory.path }
  } catch (error) {
    return { reading: { ok: false, reason: reasonOf(error) }, end: null }
  }
}

function reasonOf(error: unknown): string {
  if (error instanceof Refusal) return error.message
  // The parser recurses. Only a text made for that exhausts the stack.
  return error instanceof RangeError ? 'nested too deeply' : `cannot be read: ${String(error)}`
}

function readScript(collector: Collector, text: string, frame: Frame, directory: Directory): void {
  if (text.length > limits.length) throw new Refusal(`longer than ${limits.length} characters`)
  collector.suspect(suspiciousCharacters(text))
  const shortened = tooDense(text) ? shorten(text) : null
  if (shortened !== null && tooDense(shortened.text)) throw new Refusal('too many brackets for its length')
  const script = parse(shortened?.text ?? text)
  if (frame.posix) checkPosix(script)
  walkScript(collector, script, { ...frame, source: text, shortened }, directory)
  if (shortened?.allFound === false) throw new Refusal('here-documents that cannot be read')
}
