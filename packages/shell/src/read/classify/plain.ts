import { changeDirectory, startDirectory } from '../directory.ts'
import { withItem } from '../lists.ts'
import { unknownFromArguments } from '../unknowns.ts'
import { classifyPipeline } from './pipeline.ts'
import type { Found, Step } from './pipeline.ts'
import { readPlainScript } from './plain-script.ts'
import type { PlainCommand } from './plain-script.ts'
import { plainShellScript } from './shell-script.ts'
import type { Range } from './shell-script.ts'

/** How often shells may stand in each other. */
const MAX_SHELLS = 2

/**
 * Whether a text consists of file operations, told without the parser; null when that is not possible. Says what the full
 * reading would say: a property test holds one against the other.
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
  const start = cwd ?? '.'
  let steps: Step[] | undefined
  for (let at = 0; at < commands.length; at += 1) {
    const command = commands[at]
    if (command === undefined) return false
    const { name, program, args, stdin } = command
    if (program.canDoMore && unknownFromArguments(program.name, args) !== null) return false
    steps = withItem(steps, { program, args, stdin, cwd: directory.path })
    if (commands[at + 1]?.joined === '|') continue
    if (!classifyPipeline(steps, start, found)) return false
    if (name === 'cd' && steps.length === 1) {
      // What comes after `||` may run because the `cd` has failed.
      if (commands.some(({ joined }) => joined === '||')) return null
      changeDirectory(directory, 'cd', args)
    }
    steps = undefined
  }
  return true
}
