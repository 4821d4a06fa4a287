import { fillReading, readTemplate, templateOf, unwrapped, type TemplateReading } from './command-templates.ts'
import { absolutePath } from './paths.ts'
import type { ActivityDraft } from './activity.ts'
import type { Mutable } from './event-parts.ts'
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

type Draft<Type extends ActivityDraft['type']> = Extract<ActivityDraft, { readonly type: Type }>

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
  const options: Mutable<Parameters<Classify>[1]> = {}
  if (cwd !== undefined) options.cwd = cwd
  if (exitCode !== undefined) options.exitCode = exitCode
  const operations = classify(command, options)
  if (operations === null || operations.length === 0) return [commandDraft(shell)]
  // Without an exit code the program's own word on the call is all there is, and it is about one operation only if one
  // is all there was.
  const said = exitCode === undefined && operations.length === 1 ? outcome.isSuccess : undefined
  const drafts: ActivityDraft[] = []
  for (const operation of operations) drafts.push(operationDraft(operation, cwd, operation.success ?? said))
  return drafts
}

function commandDraft(shell: ShellCommand): ActivityDraft {
  const { exitCode, isSuccess } = shell.outcome
  const draft: Mutable<Draft<'command'>> = { type: 'command', command: shell.command }
  if (shell.workingDirectory !== undefined) draft.workingDirectory = shell.workingDirectory
  if (exitCode !== undefined) draft.exitCode = exitCode
  if (isSuccess !== undefined) draft.isSuccess = isSuccess
  return draft
}

function operationDraft(operation: FileOperation, cwd: string | undefined, isSuccess?: boolean): ActivityDraft {
  const draft = placedDraft(operation, cwd)
  if (isSuccess !== undefined) draft.isSuccess = isSuccess
  return draft
}

function placedDraft(
  operation: FileOperation,
  cwd: string | undefined,
): Mutable<Draft<'read'> | Draft<'search'> | Draft<'list'>> {
  if (operation.kind === 'read') {
    const draft: Mutable<Draft<'read'>> = { type: 'read', path: absolutePath(operation.path, cwd) }
    if (operation.startLine !== undefined) draft.startLine = operation.startLine
    if (operation.endLine !== undefined) draft.endLine = operation.endLine
    return draft
  }
  const draft: Mutable<Draft<'search'> | Draft<'list'>> =
    operation.kind === 'search' ? { type: 'search', query: operation.query } : { type: 'list' }
  if (operation.path !== undefined) draft.path = absolutePath(operation.path, cwd)
  return draft
}

/** How many commands are remembered: agents repeat themselves, streams must not fill the memory. */
const REMEMBERED = 256
/** Longer commands are not worth keeping. */
const MAX_KEY = 512

/** Remembers what commands were found to be, whatever the names in them. */
export function memoized(classify: Classify): Classify {
  const commands = new Bounded<readonly FileOperation[] | null>()
  const templates = new Bounded<TemplateReading | undefined>()
  return (text, options) => {
    const command = unwrapped(text)
    const place = `${options.exitCode ?? ''}\u0000${options.cwd ?? ''}\u0000`
    const template = templateOf(command)
    if (template !== undefined) {
      const reading = templates.get(place + template.text, () =>
        readTemplate(template, classify(template.text, options)),
      )
      if (reading !== undefined) return fillReading(reading, template.names)
    }
    if (command.length > MAX_KEY) return classify(command, options)
    return commands.get(place + command, () => classify(command, options))
  }
}

class Bounded<Value> {
  readonly #known = new Map<string, { readonly value: Value }>()

  get(key: string, find: () => Value): Value {
    let known = this.#known.get(key)
    if (known === undefined) {
      known = { value: find() }
      if (this.#known.size >= REMEMBERED) this.#known.clear()
      this.#known.set(key, known)
    }
    return known.value
  }
}
