import { absolutePath } from './paths.ts'
import type { ActivityDraft } from './activity.ts'
import type { ToolOutcome } from './tool-table.ts'

/** One thing a shell command did to files. */
export type FileOperation =
  | {
      readonly kind: 'read'
      readonly path: string
      readonly startLine?: number
      readonly endLine?: number
      readonly success?: boolean
    }
  | { readonly kind: 'search'; readonly query: string; readonly path?: string; readonly success?: boolean }
  | { readonly kind: 'list'; readonly path?: string; readonly success?: boolean }

/** The file operations a command consists of, or null when it is, or may be, anything else. */
export type Classify = (
  command: string,
  options: { readonly cwd?: string; readonly exitCode?: number },
) => readonly FileOperation[] | null

export interface ShellCommand {
  readonly command: string
  readonly cwd: string | undefined
  /** Set only where the program reports the directory of this very command. */
  readonly workingDirectory?: string
  readonly outcome: ToolOutcome
}

/** A shell command as activity: the file operations it consists of, else `command`. */
export function shellActivity(shell: ShellCommand, classify: Classify): readonly ActivityDraft[] {
  const { command, outcome } = shell
  const cwd = shell.workingDirectory ?? shell.cwd
  const exitCode = outcome.exitCode ?? (outcome.isSuccess === true ? 0 : undefined)
  const operations = classify(command, {
    ...(cwd === undefined ? {} : { cwd }),
    ...(exitCode === undefined ? {} : { exitCode }),
  })
  if (operations === null || operations.length === 0) return [commandDraft(shell)]
  // Without an exit code the program's own word on the call is all there is, and it is about one operation only if one
  // is all there was.
  const said = exitCode === undefined && operations.length === 1 ? outcome.isSuccess : undefined
  return operations.map((operation) => operationDraft(operation, cwd, operation.success ?? said))
}

function commandDraft(shell: ShellCommand): ActivityDraft {
  const { exitCode, isSuccess } = shell.outcome
  return {
    type: 'command',
    command: shell.command,
    ...(shell.workingDirectory === undefined ? {} : { workingDirectory: shell.workingDirectory }),
    ...(exitCode === undefined ? {} : { exitCode }),
    ...(isSuccess === undefined ? {} : { isSuccess }),
  }
}

function operationDraft(operation: FileOperation, cwd: string | undefined, isSuccess?: boolean): ActivityDraft {
  const ended = isSuccess === undefined ? {} : { isSuccess }
  const place = operation.path === undefined ? {} : { path: absolutePath(operation.path, cwd) }
  switch (operation.kind) {
    case 'read':
      return {
        type: 'read',
        path: absolutePath(operation.path, cwd),
        ...(operation.startLine === undefined ? {} : { startLine: operation.startLine }),
        ...(operation.endLine === undefined ? {} : { endLine: operation.endLine }),
        ...ended,
      }
    case 'search':
      return { type: 'search', query: operation.query, ...place, ...ended }
    case 'list':
      return { type: 'list', ...place, ...ended }
  }
}

/** How many commands are remembered: agents repeat themselves, streams must not fill the memory. */
const REMEMBERED = 256
/** Longer commands are not worth keeping. */
const MAX_KEY = 512

/** Remembers what commands were found to be. */
export function memoized(classify: Classify): Classify {
  const known = new Map<string, readonly FileOperation[] | null>()
  return (command, options) => {
    if (command.length > MAX_KEY) return classify(command, options)
    const key = `${options.exitCode ?? ''}\u0000${options.cwd ?? ''}\u0000${command}`
    const remembered = known.get(key)
    if (remembered !== undefined) return remembered
    const found = classify(command, options)
    if (known.size >= REMEMBERED) known.clear()
    known.set(key, found)
    return found
  }
}
