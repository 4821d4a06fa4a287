import { classify, type ClassifyOptions, type FileOperation } from '@evener/shell/read'
import type { ActivityDraft } from './activity.ts'
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
  const options: Mutable<ClassifyOptions> = {}
  if (cwd !== undefined) options.cwd = cwd
  if (exitCode !== undefined) options.exitCode = exitCode
  const operations = classify(command, options)
  if (operations === null || operations.length === 0) return [commandDraft(shell)]
  // Without an exit code the program's own word on the call is all there is, and it is about one operation only if one
  // is all there was.
  const said = exitCode === undefined && operations.length === 1 ? outcome.isSuccess : undefined
  return operations.map((operation) => operationDraft(operation, operation.success ?? said))
}

function commandDraft(shell: ShellCommand): ActivityDraft {
  const { exitCode, isSuccess } = shell.outcome
  const draft: Mutable<Draft<'command'>> = { type: 'command', command: shell.command }
  if (shell.workingDirectory !== undefined) draft.workingDirectory = shell.workingDirectory
  if (exitCode !== undefined) draft.exitCode = exitCode
  if (isSuccess !== undefined) draft.isSuccess = isSuccess
  return draft
}

/** Its paths are absolute as far as that can be determined. */
function operationDraft(operation: FileOperation, isSuccess: boolean | undefined): ActivityDraft {
  const draft = unendedDraft(operation)
  if (isSuccess !== undefined) draft.isSuccess = isSuccess
  return draft
}

function unendedDraft(operation: FileOperation): Mutable<Draft<'read'> | Draft<'search'> | Draft<'list'>> {
  if (operation.kind === 'read') {
    const { path, startLine, endLine } = operation
    if (startLine === undefined) return { type: 'read', path }
    return endLine === undefined ? { type: 'read', path, startLine } : { type: 'read', path, startLine, endLine }
  }
  const { path } = operation
  if (operation.kind === 'list') return path === undefined ? { type: 'list' } : { type: 'list', path }
  const { query } = operation
  return path === undefined ? { type: 'search', query } : { type: 'search', query, path }
}
