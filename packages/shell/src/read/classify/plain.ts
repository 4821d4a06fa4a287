import { changeDirectory, startDirectory } from '../directory.ts'
import { programName } from '../programs.ts'
import { unknownFromArguments } from '../unknowns.ts'
import { classifyPipeline } from './pipeline.ts'
import type { Found, Step } from './pipeline.ts'
import { plainShellScript, readPlainScript } from './plain-script.ts'
import type { PlainCommand } from './plain-script.ts'
import { beginsOtherwise } from './relevant.ts'

/** How often shells may stand in each other. */
const MAX_SHELLS = 2

/**
 * Whether a text consists of file operations, told without the parser; null when that is not possible. Says what the full
 * reading would say: a property test holds one against the other.
 */
export function classifyPlain(text: string, cwd: string | undefined, found: Found, shells = 0): boolean | null {
  const script = shells < MAX_SHELLS ? plainShellScript(text) : null
  if (script !== null) return classifyPlain(script, cwd, found, shells + 1)
  if (beginsOtherwise(text)) return false
  const commands = readPlainScript(text)
  if (commands === null || commands === 'other') return commands === null ? null : false
  return classifyCommands(commands, cwd, found)
}

function classifyCommands(commands: readonly PlainCommand[], cwd: string | undefined, found: Found): boolean | null {
  const directory = startDirectory(cwd)
  const start = cwd ?? '.'
  let steps: Step[] = []
  for (let at = 0; at < commands.length; at += 1) {
    const command = commands[at]
    if (command === undefined) return false
    const { name, base, args, stdin } = command
    if (programName(name) === null || unknownFromArguments(base, args) !== null) return false
    steps.push({ program: base, args, stdin, cwd: directory.path })
    if (commands[at + 1]?.joined === '|') continue
    if (!classifyPipeline(steps, start, found)) return false
    if (steps.length === 1 && name.text === 'cd') {
      // What comes after `||` may run because the `cd` has failed.
      if (commands.some(({ joined }) => joined === '||')) return null
      changeDirectory(directory, 'cd', args)
    }
    steps = []
  }
  return true
}
