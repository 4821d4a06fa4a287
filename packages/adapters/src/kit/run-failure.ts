import type { RunEnd } from './mapper.ts'

export interface RunFailure {
  readonly message: string
  readonly code: string
}

/** Returns the failure that the exit of a CLI means, or `undefined` if it means none. */
export function failureOf(end: RunEnd): RunFailure | undefined {
  const { exitCode, signal } = end
  if (typeof signal === 'string' && signal !== '') return { message: `was killed by ${signal}`, code: signal }
  if (exitCode === null || exitCode === 0) return undefined
  return { message: `exited with code ${exitCode}`, code: `exit-${exitCode}` }
}
