import type { Readable } from 'node:stream'

/** The environment of a command: input, output, working directory. Tests pass their own. */
export interface Terminal {
  /** Prints a line on standard output. */
  out(text: string): void
  write(text: string): void
  /** Prints a line on standard error. */
  err(text: string): void
  /** Resolves when the reader of standard output has room again. Commands that print much wait for it. */
  taken?(): Promise<void>
  /** Called when the command has to end. From then on, pending output is kept only while somebody reads it. */
  hurry?(code: number): void
  /** True when nobody reads standard output any more, so that a command that only prints can stop. */
  hasNoReader?(): boolean
  /** True when some output could not be written, e.g. because the disk is full. */
  isIncomplete?(): boolean
  /** Standard input. */
  readonly input: Readable
  readonly isTty: boolean
  readonly cwd: string
  readonly env: Readonly<Record<string, string | undefined>>
}

export interface InspanCommand {
  readonly name: string
  readonly help: string
  run(args: readonly string[], terminal: Terminal): Promise<number>
}

/** The command line is invalid. Printed together with the usage. */
export class UsageError extends Error {
  override readonly name = 'UsageError'
}
