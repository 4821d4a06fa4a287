import { filterEffect, narrowByFilters } from './filters.ts'
import type { FilterEffect } from './filters.ts'
import { fdOperations, findOperations } from './find.ts'
import { gitOperations } from './git.ts'
import type { Invocation } from './invocation.ts'
import type { LineRange } from './line-range.ts'
import { listFiles } from './listings.ts'
import { isNeutral } from './members.ts'
import type { FileOperation } from './operations.ts'
import { readFiles } from './readers.ts'
import type { Select } from './readers.ts'
import { searchFiles } from './searches.ts'

const NO_EFFECTS: readonly FilterEffect[] = []

/** The findings so far. */
export interface FoundOperations {
  operations: readonly FileOperation[]
  /** How many pipelines produced operations. */
  producers: number
  /** The program whose exit code becomes that of the whole command. */
  last: string
  /** An operation follows `||`, so it only ran if what precedes it failed. */
  isEither: boolean
}

/** Adds the operations of the pipeline from `from` to `to`. False when it is, or may be, anything else. */
export function classifyPipeline(
  steps: readonly Invocation[],
  from: number,
  to: number,
  found: FoundOperations,
): boolean {
  const first = steps[from]
  const last = steps[to - 1]
  if (first === undefined || last === undefined) return false
  const isAlone = first === last
  if (isAlone && first.program.mayBeNeutral && isNeutral(first.program.name, first.args)) return true
  const effects = isAlone ? NO_EFFECTS : effectsOf(steps, from + 1, to)
  if (effects === null) return false
  const operations = firstOperations(first, effects)
  if (operations === null) return false
  found.operations = found.operations.length === 0 ? operations : [...found.operations, ...operations]
  found.producers += 1
  found.last = last.program.name
  return true
}

/** Returns the effects of the filters after the first program; null when one of them may be more than a filter. */
function effectsOf(steps: readonly Invocation[], from: number, to: number): readonly FilterEffect[] | null {
  const effects: FilterEffect[] = []
  for (let at = from; at < to; at += 1) {
    const step = steps[at]
    if (step === undefined || step.stdin !== null) return null
    const effect = filterEffect(step.program.name, step.args)
    if (effect === null) return null
    effects.push(effect)
  }
  return effects
}

function firstOperations(invocation: Invocation, effects: readonly FilterEffect[]): readonly FileOperation[] | null {
  const { name, select } = invocation.program
  if (select !== undefined) return readOperations(select, invocation, effects)
  switch (name) {
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

/** Returns one read per file and range. Filters narrow it only while they still see the lines of one file. */
function readOperations(
  select: Select,
  invocation: Invocation,
  effects: readonly FilterEffect[],
): readonly FileOperation[] | null {
  const reading = readFiles(select, invocation)
  if (reading === null) return null
  const { paths, ranges } = reading
  const whole = ranges?.length === 1 && paths.length === 1 && effects.length === 0 ? ranges[0] : undefined
  if (whole !== undefined) return [readOf(paths[0] ?? '', whole)]
  const narrowed = effects.some((effect) => effect.lines === 'range')
  const countable = ranges !== null && !(narrowed && (paths.length > 1 || ranges.length > 1))
  if (!countable) return paths.map((path) => ({ kind: 'read', path }))
  const [range, another] = ranges
  if (range === undefined || another !== undefined) {
    return paths.flatMap((path) => ranges.map((each) => readOf(path, narrowByFilters(each, effects))))
  }
  const lines = narrowByFilters(range, effects)
  const [path, anotherPath] = paths
  if (path !== undefined && anotherPath === undefined) return [readOf(path, lines)]
  return paths.map((each) => readOf(each, lines))
}

/** Leaves the lines out for a whole file and for an empty range. */
function readOf(path: string, { start, end }: LineRange): FileOperation {
  if (end === undefined) return start === 1 ? { kind: 'read', path } : { kind: 'read', path, startLine: start }
  return end < start ? { kind: 'read', path } : { kind: 'read', path, startLine: start, endLine: end }
}
