import { parse } from 'unbash'

import { suspiciousCharacters } from './characters.ts'
import { Collector } from './collector.ts'
import { startDirectory } from './directory.ts'
import type { Directory } from './directory.ts'
import { topFrame } from './frames.ts'
import type { Frame } from './frames.ts'
import { tooExpensive } from './limits.ts'
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
    readScript(collector, text, topFrame(text, options.shell === 'sh'), startDirectory(options.cwd))
    return { ok: true, commands: collector.commands, suspicious: collector.suspicious }
  } catch (error) {
    if (error instanceof Refusal) return { ok: false, reason: error.message }
    // The parser recurses; only a text made for it exhausts the stack.
    if (error instanceof RangeError) return { ok: false, reason: 'nested too deeply' }
    return { ok: false, reason: `cannot be read: ${String(error)}` }
  }
}

function readScript(collector: Collector, text: string, frame: Frame, directory: Directory): void {
  const refused = tooExpensive(text)
  if (refused !== null) throw new Refusal(refused)
  collector.suspect(suspiciousCharacters(text))
  const script = parse(text)
  if (frame.posix) checkPosix(script)
  walkScript(collector, script, frame, directory)
}
