import type { FileOperation } from './operations.ts'
import type { Found } from './pipeline.ts'
import { isSearcher } from './searches.ts'

/**
 * Adds whether the operations succeeded. Zero is success for all, unless one of them was to be done only if something else
 * failed. Any other code is known to be the operation's own only if there is just one; where it may belong to another part of
 * the command nothing is said. For a search 1 means that nothing was found.
 */
export function withSuccess(
  operations: readonly FileOperation[],
  exitCode: number,
  { producers, last, isEither }: Found,
): readonly FileOperation[] {
  if (exitCode === 0) return isEither ? operations : all(operations, true)
  if (producers > 1) return operations
  if (exitCode === 1 && isSearcher(last)) {
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
