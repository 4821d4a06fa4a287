import type { SimpleCommand } from '../../read/index.ts'

/**
 * Returns the commands whose output may be the input of another one. Pipelines are numbered from the outside in, so
 * commands in earlier stages have its number or a higher one; a command inside a compound may get the output of any
 * before it.
 */
export function fedBy(command: SimpleCommand, commands: readonly SimpleCommand[]): readonly SimpleCommand[] {
  const { index, nesting, origin, parent, pipeline, stage } = command
  if (stage > 0) return commands.slice(0, index).filter((each) => each.pipeline >= pipeline && isBefore(each, command))
  if (nesting.length > 0)
    return commands.slice(0, index).some(({ stages }) => stages > 1) ? commands.slice(0, index) : []
  const outer = parent === null ? undefined : commands[parent]
  return outer === undefined || origin === 'text' ? [] : fedBy(outer, commands)
}

/** A command is not fed by the ones that run it. */
function isBefore(each: SimpleCommand, { pipeline, stage }: SimpleCommand): boolean {
  return each.pipeline !== pipeline || each.stage < stage
}
