import type { FileOperation } from './operations.ts'

/** What is known of the commands behind the operations. */
export interface Producers {
  /** How many pipelines gave operations. */
  readonly count: number
  /** The exit code is that of a search, for which 1 means that nothing was found. */
  readonly endsInSearch: boolean
}

/**
 * Adds whether the operations succeeded. Zero is success for all. Any other code is known to be the operation's own only
 * if there is just one; where it may belong to another part of the command nothing is said.
 */
export function withSuccess(
  operations: readonly FileOperation[],
  exitCode: number,
  producers: Producers,
): readonly FileOperation[] {
  if (exitCode === 0) return all(operations, true)
  if (producers.count > 1) return operations
  if (exitCode === 1 && producers.endsInSearch) {
    return operations.every((operation) => operation.kind === 'search') ? all(operations, true) : operations
  }
  return operations.length === 1 ? all(operations, false) : operations
}

/** They were made for this one command, so they can be completed in place. */
function all(operations: readonly FileOperation[], success: boolean): readonly FileOperation[] {
  for (const operation of operations as readonly Mutable<FileOperation>[]) operation.success = success
  return operations
}

type Mutable<Type> = Type extends unknown ? { -readonly [Key in keyof Type]: Type[Key] } : never
