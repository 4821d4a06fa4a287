import type { FileOperation } from './operations.ts'
import type { FoundOperations } from './pipeline.ts'
import { isSearcher } from './searches.ts'

/**
 * Adds whether the operations succeeded. Exit code 0 is success for all, unless one of them only ran if something else
 * failed. Any other code belongs to an operation for certain only if there is just one; otherwise success is left out.
 * For a search 1 means that nothing was found.
 */
export function withSuccess(
  operations: readonly FileOperation[],
  exitCode: number,
  { producers, last, isEither }: FoundOperations,
): readonly FileOperation[] {
  if (exitCode === 0) return isEither ? operations : all(operations, true)
  if (producers > 1) return operations
  if (exitCode === 1 && isSearcher(last)) {
    return operations.every((operation) => operation.kind === 'search') ? all(operations, true) : operations
  }
  return operations.length === 1 ? all(operations, false) : operations
}

/** Changes the operations in place, which is safe because they were made for this one command. */
function all(operations: readonly FileOperation[], success: boolean): readonly FileOperation[] {
  for (const operation of operations as readonly MutableEach<FileOperation>[]) operation.success = success
  return operations
}

type MutableEach<Type> = Type extends unknown ? { -readonly [Key in keyof Type]: Type[Key] } : never
