import type { JsonValue } from '@inspan/protocol'
import { classify, type ClassifyOptions, type FileOperation } from '@inspan/shell/read'
import type { ActivityDraft } from './activity.ts'
import { commandDraft } from './drafts.ts'
import { asObject } from './fields.ts'
import type { Mutable } from './event-parts.ts'
import type { ReportedOutcome } from './tool-table.ts'

type DraftOf<Type extends ActivityDraft['type']> = Extract<ActivityDraft, { readonly type: Type }>

export interface ShellCommand {
  readonly command: string
  readonly cwd: string | undefined
  /** Set only if the CLI reports the directory of this command. */
  readonly workingDirectory?: string
  readonly outcome: ReportedOutcome
}

/** Returns a shell command as activity: the file operations that it consists of, otherwise `command`. */
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
    // Without an exit code the CLI's own success flag is all we have. It is about the whole command, so it is used only
    // if there is a single operation.
    const said = exitCode === undefined ? outcome.isSuccess : undefined
    return [operationDraft(first, isDoubtful ? undefined : (first.success ?? said), shell.workingDirectory)]
  }
  return operations.map((operation) =>
    operationDraft(operation, isDoubtful ? undefined : operation.success, shell.workingDirectory),
  )
}

/** Commands joined in this way may fail although the exit code is 0. */
const JOINED = /[;|\n]/
/** A failure whose message is discarded. */
const SILENCED = /(?:2|&)>>? *\/dev\/null/
/** How commands that read, search and list report that they could not. */
const COMPLAINT =
  /(?:^|\n)(?:cat|bat|nl|head|tail|tac|less|more|wc|sed|[ef]?grep|rg|ag|ack|find|fd|ls|dir|tree|eza|exa|lsd): [^\n]*?: /
/** How much of an output is searched for such a message: outputs are long. */
const LOOKED_THROUGH = 4_000

/**
 * Lists and pipes end with the exit code of their last command. Only the output shows that another one failed, and not
 * which. Success is then left unknown, never reported as failure.
 */
function hasComplaint(result: JsonValue | undefined): boolean {
  // Few outputs contain a colon and a space. Finding none is much faster than trying the pattern on every line.
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

/** Returns an operation as activity, with an absolute path if possible. Without a path it is about `reported`. */
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
): Mutable<DraftOf<'read'> | DraftOf<'search'> | DraftOf<'list'>> {
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
