import { COMMANDS } from '../command-list.ts'
import { UsageError, type InspanCommand, type Terminal } from '../command.ts'
import { completionScript, SHELLS, type CompletedCommand } from '../completion-script.ts'
import { parseOptions } from '../parse-options.ts'

export const completionCommand: InspanCommand = {
  name: 'completion',
  help: [
    'Usage: inspan completion bash|zsh|fish',
    '',
    'Prints a script that completes commands and options of inspan in your shell.',
    '',
    'Examples:',
    '  inspan completion bash >> ~/.bashrc',
    '  inspan completion zsh > "${fpath[1]}/_inspan"',
    '  inspan completion fish > ~/.config/fish/completions/inspan.fish',
  ].join('\n'),
  run,
}

async function run(args: readonly string[], terminal: Terminal): Promise<number> {
  const { positionals } = parseOptions(args, {})
  const shell = SHELLS.find((each) => each === positionals[0])
  if (shell === undefined || positionals.length !== 1) throw new UsageError(`name a shell: ${SHELLS.join(', ')}`)
  const commands = await Promise.all(
    COMMANDS.map(async (listed): Promise<CompletedCommand> => {
      const { help } = await listed.load()
      return { name: listed.name, summary: listed.summary, options: optionsIn(help) }
    }),
  )
  terminal.write(completionScript(shell, commands))
  return 0
}

/** Reads the options from the help, which names each at the beginning of a line, so that nothing is listed twice. */
function optionsIn(help: string): CompletedCommand['options'] {
  return [...help.matchAll(/^ {2}(--[a-z-]+)(?: <([^>]*)>)? +(\S.*)$/gm)].map(([, name = '', value, about = '']) => ({
    name,
    about,
    ...(value === undefined ? {} : { value }),
  }))
}
