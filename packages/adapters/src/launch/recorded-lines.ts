import type { RunNote } from './run-note.ts'

/** Recorded in place of a line that could not be redacted. */
export const WITHHELD: RunNote = {
  warning: { message: 'A line was not recorded because it could not be redacted.', code: 'withheld' },
}

/** Recorded where a recording has reached its size limit. */
export const LIMIT_REACHED: RunNote = {
  warning: { message: 'The recording has reached its size limit. What follows is missing.', code: 'not-recorded' },
}
