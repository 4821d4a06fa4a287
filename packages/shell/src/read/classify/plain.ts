import { changeDirectory, startDirectory } from '../directory.ts'
import { unknownFromArguments } from '../unknowns.ts'
import { classifyPipeline } from './pipeline.ts'
import type { Found } from './pipeline.ts'
import { readPlainScript } from './plain-script.ts'
import type { PlainCommand } from './plain-script.ts'
import { plainShellScript } from './shell-script.ts'
import type { Range } from './shell-script.ts'

/** How many shells may be nested. */
const MAX_SHELLS = 2

/**
 * Decides without the parser whether a text consists of file operations; null when that is not possible. A property
 * test checks that the result is that of the full reading.
 */
export function classifyPlain(text: string, cwd: string | undefined, found: Found): boolean | null {
  let range: Range = { text, from: 0, to: text.length }
  for (let shells = 0; shells < MAX_SHELLS; shells += 1) {
    const script = plainShellScript(range)
    if (script === 'other') return false
    if (script === null) break
    range = script
  }
  const commands = readPlainScript(range)
  if (commands === null || commands === 'other') return commands === null ? null : false
  return classifyCommands(commands, cwd, found)
}

function classifyCommands(commands: readonly PlainCommand[], cwd: string | undefined, found: Found): boolean | null {
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
