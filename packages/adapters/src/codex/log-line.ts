import type { Run } from '../kit/mapper.ts'

/** A log line on standard error: time, level, module, message. */
const LOG_LINE = /^\S+Z\s+(?:ERROR|WARN)\s+([\w:]+):\s*(.+)$/s

/** Warns of what Codex logs on standard error, with the module as the code. */
export function warnOfLogLine(run: Run, text: string): void {
  const [, module, message] = LOG_LINE.exec(text) ?? []
  if (message !== undefined) run.warn(message, module)
}
