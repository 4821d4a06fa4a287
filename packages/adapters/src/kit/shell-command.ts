import { classify, type ClassifyOptions, type FileOperation } from '@evener/shell/read'
import type { ActivityDraft } from './activity.ts'
import { commandDraft } from './drafts.ts'
import type { Mutable } from './event-parts.ts'
import type { ToolOutcome } from './tool-table.ts'

type Draft<Type extends ActivityDraft['type']> = Extract<ActivityDraft, { readonly type: Type }>

export interface ShellCommand {
  readonly command: string
  readonly cwd: string | undefined
  /** Set only where the program reports the directory of this very command. */
  readonly workingDirectory?: string
  readonly outcome: ToolOutcome
}

/** A shell command as activity: the file operations it consists of, else `command`. */
export function shellActivity(shell: ShellCommand): readonly ActivityDraft[] {
  const { command, outcome } = shell
  const cwd = shell.workingDirectory ?? shell.cwd
  const exitCode = outcome.exitCode ?? (outcome.isSuccess === true ? 0 : undefined)
  const operations = classify(command, optionsOf(cwd, exitCode))
  const first = operations?.[0]
  if (operations === null || first === undefined) {
    return [commandDraft(command, outcome.exitCode, outcome.isSuccess, shell.workingDirectory)]
  }
  if (operations.length === 1) {
    // Without an exit code the program's own word on the call is all there is, and it is about one operation only if one
    // is all there was.
    const said = exitCode === undefined ? outcome.isSuccess : undefined
    return [operationDraft(first, first.success ?? said, shell.workingDirectory)]
  }
  return operations.map((operation) => operationDraft(operation, operation.success, shell.workingDirectory))
}

function optionsOf(cwd: string | undefined, exitCode: number | undefined): ClassifyOptions {
  if (cwd === undefined) return exitCode === undefined ? {} : { exitCode }
  return exitCode === undefined ? { cwd } : { cwd, exitCode }
}

/** Its paths are absolute as far as that can be determined. What names no place was done in the directory reported. */
function operationDraft(
  operation: FileOperation,
  isSuccess: boolean | undefined,
  reported: string | undefined,
): ActivityDraft {
  const draft = unendedDraft(operation, reported)
  if (isSuccess !== undefined) draft.isSuccess = isSuccess
  return draft
}

function unendedDraft(
  operation: FileOperation,
  reported: string | undefined,
): Mutable<Draft<'read'> | Draft<'search'> | Draft<'list'>> {
  if (operation.kind === 'read') {
    const { path, startLine, endLine } = operation
    if (startLine === undefined) return { type: 'read', path }
    return endLine === undefined ? { type: 'read', path, startLine } : { type: 'read', path, startLine, endLine }
  }
  const path = operation.path ?? reported
  if (operation.kind === 'list') return path === undefined ? { type: 'list' } : { type: 'list', path }
  const { query } = operation
  return path === undefined ? { type: 'search', query } : { type: 'search', query, path }
}
