import type { Readable } from 'node:stream'

/** Where a command reads its surroundings from and writes to; tests hand in their own. */
export interface Terminal {
  /** A line on standard output. */
  out(text: string): void
  write(text: string): void
  /** A line on standard error. */
  err(text: string): void
  /** Settles when the reader of standard output has room again: whoever prints much waits for it. */
  taken?(): Promise<void>
  /** It was told to end: what was printed is waited for only as long as somebody takes it. */
  hurry?(code: number): void
  /** Nobody reads standard output any more: whoever only prints has nothing left to do. */
  hasNoReader?(): boolean
  /** Something of what was printed could not be written, such as to a full disk. */
  isIncomplete?(): boolean
  /** Standard input. */
  readonly input: Readable
  readonly isTty: boolean
  readonly cwd: string
  readonly env: Readonly<Record<string, string | undefined>>
}

export interface Command {
  readonly name: string
  readonly help: string
  run(args: readonly string[], terminal: Terminal): Promise<number>
}

/** The command line makes no sense: how it is used is shown with it. */
export class UsageError extends Error {
  override readonly name = 'UsageError'
}
