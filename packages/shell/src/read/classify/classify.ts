import { readOnce } from '../read-command.ts'
import type { SimpleCommand } from '../reading.ts'
import { isPosixShell } from '../shells.ts'
import { withoutBraces } from './braces.ts'
import type { Invocation } from './invocation.ts'
import { isShellCommand, readMember } from './members.ts'
import type { FileOperation } from './operations.ts'
import { classifyPipeline } from './pipeline.ts'
import type { FoundOperations } from './pipeline.ts'
import { classifyPlain } from './plain.ts'
import { relevantProgram } from './relevant.ts'
import { withSuccess } from './success.ts'

export interface ClassifyOptions {
  /** The command's working directory, if known. Relative paths are then made absolute. */
  readonly cwd?: string
  /** The command's exit code. The operations then include whether they succeeded. */
  readonly exitCode?: number
}

/** Returns the file operations a command consists of, or null when it is, or may be, anything else. */
export function classify(text: string, options: ClassifyOptions = {}): readonly FileOperation[] | null {
  const found = nothingFound()
  const isOperations = classifyPlain(text, options.cwd, found)
  if (isOperations === null) return classifyRead(text, options)
  return isOperations ? conclude(found, options) : null
}

/** Like `classify`, always with a full parse of the text. */
export function classifyRead(text: string, options: ClassifyOptions = {}): readonly FileOperation[] | null {
  const { reading } = readOnce(text, options.cwd)
  if (!reading.ok || reading.suspicious.length > 0 || reading.commands.some(isInsideWord)) return null
  const found = nothingFound()
  return classifyScript(reading.commands, null, options.cwd ?? '.', found) ? conclude(found, options) : null
}

/** True for commands inside a word's substitutions. They are no part of the operation that gets the word. */
function isInsideWord({ origin }: SimpleCommand): boolean {
  return origin === 'substitution' || origin === 'process-substitution'
}

const NO_OPERATIONS: readonly FileOperation[] = []

function nothingFound(): FoundOperations {
  return { operations: NO_OPERATIONS, producers: 0, last: '', isEither: false }
}

function conclude(found: FoundOperations, { exitCode }: ClassifyOptions): readonly FileOperation[] | null {
  const { operations } = found
  if (operations.length === 0) return null
  return exitCode === undefined ? operations : withSuccess(operations, exitCode, found)
}

/** Classifies the commands of one script. False when one of them is not a file operation. */
function classifyScript(
  commands: readonly SimpleCommand[],
  parent: number | null,
  start: string,
  found: FoundOperations,
): boolean {
  const own = commands.filter((command) => command.parent === parent)
  for (let at = 0; at < own.length;) {
    const first = own[at]
    if (first === undefined || (first.origin !== 'text' && first.origin !== 'script')) return false
    const stages = own.slice(at, at + first.stages)
    if (stages.length !== first.stages || stages.some((stage) => stage.pipeline !== first.pipeline)) return false
    const { producers } = found
    if (!classifyStages(stages, commands, start, found)) return false
    if (first.joined === '||' && found.producers > producers) found.isEither = true
    at += stages.length
  }
  return true
}

function classifyStages(
  stages: readonly SimpleCommand[],
  commands: readonly SimpleCommand[],
  start: string,
  found: FoundOperations,
): boolean {
  const steps: Invocation[] = []
  for (const stage of stages) {
    const member = readMember(stage, commands)
    if (member === null) return false
    const { command, stdin } = member
    if (stages.length === 1 && isShellCommand(command)) {
      return stdin === null && command.runs === null && classifyScript(commands, command.index, start, found)
    }
    const { cwd, wrappers } = command
    const args = wrappers.some(isPosixShell) ? command.args : withoutBraces(command.args)
    const program = command.program === null ? undefined : relevantProgram(command.program)
    if (program === undefined) return false
    steps.push({ program, args, stdin, cwd, moved: cwd !== start })
  }
  return classifyPipeline(steps, 0, steps.length, found)
}
