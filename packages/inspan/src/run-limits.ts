import { UsageError } from './command.ts'

/** Longer times overflow the timer. */
const LONGEST_SECONDS = 2_000_000

/** Reads a number of seconds and returns milliseconds. */
export function secondsOf(option: string, text: string): number {
  const seconds = Number(text)
  if (text.trim() !== '' && seconds >= 0.001 && seconds <= LONGEST_SECONDS) return Math.round(seconds * 1000)
  throw new UsageError(`${option} takes a number of seconds above 0, at most ${LONGEST_SECONDS}`)
}

export function dollarsOf(option: string, text: string): number {
  const dollars = Number(text.replace(/^\$/, ''))
  if (text.trim() !== '' && dollars > 0 && Number.isFinite(dollars)) return dollars
  throw new UsageError(`${option} takes a number of dollars above 0`)
}
