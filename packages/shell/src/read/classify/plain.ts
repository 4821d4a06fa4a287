import { changeDirectory, startDirectory } from '../directory.ts'
import { unknownFromArguments } from '../unknowns.ts'
import { classifyPipeline } from './pipeline.ts'
import type { FoundOperations } from './pipeline.ts'
import { plainShellScript, readPlainScript } from './plain-script.ts'
import type { ClassifiedCommand } from './plain-script.ts'

/** How many shells may be nested. */
const MAX_SHELLS = 2

/**
 * Decides without the parser whether a text consists of file operations; null when that is not possible. A property
 * test checks that the result is that of the full reading.
 */
export function classifyPlain(text: string, cwd: string | undefined, found: FoundOperations): boolean | null {
  let script = text
  for (let shells = 0; shells < MAX_SHELLS; shells += 1) {
    const inner = plainShellScript(script)
    if (inner === 'other') return false
    if (inner === null) break
    script = inner.script
  }
  const commands = readPlainScript(script)
  if (commands === null || commands === 'other') return commands === null ? null : false
  return classifyCommands(commands, cwd, found)
}

function classifyCommands(
  commands: readonly ClassifiedCommand[],
  cwd: string | undefined,
  found: FoundOperations,
): boolean | null {
  const directory = startDirectory(cwd)
  const start = directory.path
  let first = 0
  for (let at = 0; at < commands.length; at += 1) {
    const command = commands[at]
    if (command === undefined) return false
    const { program, args } = command
    if (program.canDoMore && unknownFromArguments(program.name, args) !== null) return false
    command.cwd = directory.path
    command.moved = directory.path !== start
    const next = at + 1
    if (next < commands.length && commands[next]?.joined === '|') continue
    const { producers } = found
    if (!classifyPipeline(commands, first, next, found)) return false
    if (commands[first]?.joined === '||' && found.producers > producers) found.isEither = true
    if (command.isCd && first === at) {
      // A command after `||` may run because the `cd` failed.
      if (commands.some(({ joined }) => joined === '||')) return null
      changeDirectory(directory, 'cd', args)
    }
    first = next
  }
  return true
}
