import { CLI_IDS } from './served-modes.ts'

export const SHELLS = ['bash', 'zsh', 'fish'] as const
export type Shell = (typeof SHELLS)[number]

export interface CompletedOption {
  readonly name: string
  readonly about: string
  /** What its value is called; absent for an option without one. */
  readonly value?: string
}

export interface CompletedCommand {
  readonly name: string
  readonly summary: string
  readonly options: readonly CompletedOption[]
}

export function completionScript(shell: Shell, commands: readonly CompletedCommand[]): string {
  return SCRIPTS[shell](commands)
}

const SCRIPTS: Readonly<Record<Shell, (commands: readonly CompletedCommand[]) => string>> = { bash, zsh, fish }
const CLIS = CLI_IDS.join(' ')

function bash(commands: readonly CompletedCommand[]): string {
  return [
    '_inspan() {',
    '  local current="${COMP_WORDS[COMP_CWORD]}" previous="${COMP_WORDS[COMP_CWORD-1]}" words=""',
    '  if [ "$COMP_CWORD" -eq 1 ]; then',
    `    words="${[...commands.map(({ name }) => name), 'help'].join(' ')}"`,
    '  else',
    '    case "$previous" in',
    `      --harness) words="${CLIS}" ;;`,
    '      *) case "${COMP_WORDS[1]}" in',
    ...commands.map(({ name, options }) => `        ${name}) words="${options.map((each) => each.name).join(' ')}" ;;`),
    `        help) words="${commands.map(({ name }) => name).join(' ')}" ;;`,
    '      esac ;;',
    '    esac',
    '  fi',
    '  COMPREPLY=($(compgen -W "$words" -- "$current"))',
    '}',
    'complete -o default -F _inspan inspan',
    '',
  ].join('\n')
}

function zsh(commands: readonly CompletedCommand[]): string {
  return [
    '#compdef inspan',
    '_inspan() {',
    '  local -a commands',
    '  commands=(',
    ...commands.map(({ name, summary }) => `    ${quoted(`${name}:${summary.replaceAll(':', ' ')}`)}`),
    '  )',
    '  if (( CURRENT == 2 )); then',
    "    _describe 'command' commands",
    '    return',
    '  fi',
    '  case "$words[2]" in',
    ...commands.map(({ name, options }) => {
      const specs = options.map((each) => quoted(zshOption(each)))
      return `    ${name}) _arguments ${[...specs, quoted('*:file:_files')].join(' ')} ;;`
    }),
    `    help) _values command ${commands.map(({ name: each }) => each).join(' ')} ;;`,
    '  esac',
    '}',
    // As a file of fpath this text is the function itself when it is first called.
    'if [[ "$funcstack[1]" = _inspan ]]; then _inspan "$@"; else compdef _inspan inspan; fi',
    '',
  ].join('\n')
}

function zshOption({ about, name, value }: CompletedOption): string {
  const described = `${name}[${about.replaceAll(/[[\]:]/g, ' ')}]`
  if (value === undefined) return described
  return `${described}:${value.replaceAll(':', ' ')}:${name === '--harness' ? `(${CLIS})` : '_files'}`
}

function fish(commands: readonly CompletedCommand[]): string {
  const first = commands.map(
    ({ name, summary }) => `complete -c inspan -n __fish_use_subcommand -f -a ${name} -d ${quoted(summary)}`,
  )
  const options = commands.flatMap(({ name, options: all }) =>
    all.map((each) => {
      const values = each.name === '--harness' ? ` -x -a ${quoted(CLIS)}` : ''
      return `complete -c inspan -n ${quoted(`__fish_seen_subcommand_from ${name}`)} -l ${each.name.slice(2)}${values} -d ${quoted(each.about)}`
    }),
  )
  return `${[...first, ...options].join('\n')}\n`
}

function quoted(text: string): string {
  return `'${text.replaceAll("'", String.raw`'\''`)}'`
}
