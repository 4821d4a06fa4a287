import { readCommand } from '../read-command.ts'
import type { SimpleCommand } from '../reading.ts'
import { filterEffect, narrowByFilters } from './filters.ts'
import type { FilterEffect } from './filters.ts'
import { fdOperations, findOperations } from './find.ts'
import { gitOperations } from './git.ts'
import type { Invocation } from './invocation.ts'
import { lineFields } from './line-range.ts'
import { listFiles } from './listings.ts'
import { isNeutral, isShellCommand, readMember } from './members.ts'
import type { Member } from './members.ts'
import type { FileOperation } from './operations.ts'
import { isReader, readFiles } from './readers.ts'
import { isSearcher, searchFiles } from './searches.ts'
import { withSuccess } from './success.ts'

export interface ClassifyOptions {
  /** Where the command ran, if known: relative paths are then made absolute. */
  readonly cwd?: string
  /** How it ended: the operations then say whether they succeeded. */
  readonly exitCode?: number
}

/** The file operations a command consists of, or null when it is, or may be, anything else. */
export function classify(text: string, options: ClassifyOptions = {}): readonly FileOperation[] | null {
  const reading = readCommand(text, options)
  if (!reading.ok || reading.suspicious.length > 0) return null
  const found: Found = { operations: [], producers: 0, last: '' }
  if (!classifyScript(reading.commands, null, options.cwd ?? '.', found) || found.operations.length === 0) return null
  if (options.exitCode === undefined) return found.operations
  return withSuccess(found.operations, options.exitCode, {
    count: found.producers,
    endsInSearch: isSearcher(found.last),
  })
}

interface Found {
  readonly operations: FileOperation[]
  producers: number
  /** The program whose exit code the whole command has. */
  last: string
}

/** Classifies the commands of one script; false when one of them is not a file operation. */
function classifyScript(
  commands: readonly SimpleCommand[],
  parent: number | null,
  start: string,
  found: Found,
): boolean {
  const own = commands.filter((command) => command.parent === parent)
  for (let at = 0; at < own.length;) {
    const first = own[at]
    if (first === undefined || (first.origin !== 'text' && first.origin !== 'script')) return false
    const stages = own.slice(at, at + first.stages)
    if (stages.length !== first.stages || stages.some((stage) => stage.pipeline !== first.pipeline)) return false
    if (!classifyPipeline(stages, commands, start, found)) return false
    at += stages.length
  }
  return true
}

function classifyPipeline(
  stages: readonly SimpleCommand[],
  commands: readonly SimpleCommand[],
  start: string,
  found: Found,
): boolean {
  const members: Member[] = []
  for (const stage of stages) {
    const member = readMember(stage, commands)
    if (member === null) return false
    members.push(member)
  }
  const [first, ...rest] = members
  if (first === undefined) return false
  if (rest.length === 0) {
    if (isShellCommand(first.command)) {
      return (
        first.stdin === null &&
        first.command.runs === null &&
        classifyScript(commands, first.command.index, start, found)
      )
    }
    if (isNeutral(first.command, found.operations.length > 0)) return true
  }
  const effects: FilterEffect[] = []
  for (const { command, stdin } of rest) {
    const effect = command.program === null || stdin !== null ? null : filterEffect(command.program, command.args)
    if (effect === null) return false
    effects.push(effect)
  }
  const operations = firstOperations(first, effects, start)
  if (operations === null) return false
  found.operations.push(...operations)
  found.producers += 1
  found.last = members.at(-1)?.command.program ?? ''
  return true
}

function firstOperations(
  { command, stdin }: Member,
  effects: readonly FilterEffect[],
  start: string,
): readonly FileOperation[] | null {
  const { program, args, cwd } = command
  if (program === null) return null
  const invocation: Invocation = { program, args, stdin, cwd, moved: cwd !== start }
  if (isReader(program)) return readOperations(invocation, effects)
  switch (program) {
    case 'git':
      return gitOperations(invocation)
    case 'find':
    case 'gfind':
      return findOperations(invocation)
    case 'fd':
    case 'fdfind':
      return fdOperations(invocation)
    default:
      return searchFiles(invocation) ?? listFiles(invocation)
  }
}

/** One read for each file and range. Filters narrow it only where they still see the lines of one file. */
function readOperations(invocation: Invocation, effects: readonly FilterEffect[]): readonly FileOperation[] | null {
  const reading = readFiles(invocation)
  if (reading === null) return null
  const { paths, ranges } = reading
  const narrowed = effects.some((effect) => effect.lines === 'range')
  const countable = ranges !== null && !(narrowed && (paths.length > 1 || ranges.length > 1))
  return paths.flatMap((path): FileOperation[] =>
    countable
      ? ranges.map((range) => ({ kind: 'read', path, ...lineFields(narrowByFilters(range, effects)) }))
      : [{ kind: 'read', path }],
  )
}
