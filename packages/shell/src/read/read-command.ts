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

/**
 * Everything a command text would run, without running it. Never throws. A text that cannot be read to its end is not
 * read at all: a part of it would look harmless for the wrong reason.
 */
export function readCommand(text: string, options: ReadOptions = {}): ShellReading {
  const collector: Collector = new Collector((script, frame, directory) =>
    readScript(collector, script, frame, directory),
  )
  try {
    readScript(collector, text, topFrame(options.shell === 'sh'), startDirectory(options.cwd))
    return { ok: true, commands: collector.commands, suspicious: collector.suspicious }
  } catch (error) {
    if (error instanceof Refusal) return { ok: false, reason: error.message }
    // The parser recurses; only a text made for it exhausts the stack.
    if (error instanceof RangeError) return { ok: false, reason: 'nested too deeply' }
    return { ok: false, reason: `cannot be read: ${String(error)}` }
  }
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
