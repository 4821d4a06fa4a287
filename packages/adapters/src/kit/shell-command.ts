import type { JsonValue } from '@evener/protocol'
import { classify, type ClassifyOptions, type FileOperation } from '@evener/shell/read'
import type { ActivityDraft } from './activity.ts'
import { commandDraft } from './drafts.ts'
import { asObject } from './fields.ts'
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
  if (outcome.isUndone === true) return operations.map((each) => operationDraft(each, false, shell.workingDirectory))
  const isDoubtful = exitCode === 0 && JOINED.test(command) && (SILENCED.test(command) || hasComplaint(outcome.result))
  if (operations.length === 1) {
    // Without an exit code the program's own word on the call is all there is, and it is about one operation only if one
    // is all there was.
    const said = exitCode === undefined ? outcome.isSuccess : undefined
    return [operationDraft(first, isDoubtful ? undefined : (first.success ?? said), shell.workingDirectory)]
  }
  return operations.map((operation) =>
    operationDraft(operation, isDoubtful ? undefined : operation.success, shell.workingDirectory),
  )
}

/** Something may have failed in a command that ends with 0. */
const JOINED = /[;|\n]/
/** Where nobody would hear of it. */
const SILENCED = /(?:2|&)>>? *\/dev\/null/
/** How the programs that read, search and list say that they could not. */
const COMPLAINT =
  /(?:^|\n)(?:cat|bat|nl|head|tail|tac|less|more|wc|sed|[ef]?grep|rg|ag|ack|find|fd|ls|dir|tree|eza|exa|lsd): [^\n]*?: /
/** A complaint further down is not looked for: outputs are long. */
const LOOKED_THROUGH = 4_000

/**
 * Lists and pipes end with the exit code of their last command. That another one has failed is seen in the output alone,
 * and not which: success is then left open, never said to be the opposite.
 */
function hasComplaint(result: JsonValue | undefined): boolean {
  // Few outputs have a colon before a space, and finding none is much faster than trying the pattern on every line.
  if (typeof result === 'string') return result.includes(': ') && COMPLAINT.test(result.slice(0, LOOKED_THROUGH))
  if (Array.isArray(result)) return (result as readonly JsonValue[]).some(hasComplaint)
  const fields = asObject(result)
  return (
    fields !== undefined && [fields['text'], fields['content'], fields['stderr'], fields['stdout']].some(hasComplaint)
  )
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
  if (operation.kind === 'read' && operation.startLine === undefined && isSuccess !== undefined) {
    return { type: 'read', path: operation.path, isSuccess }
  }
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
