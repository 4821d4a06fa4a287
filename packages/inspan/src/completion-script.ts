import { HARNESS_IDS } from './served-modes.ts'

export const SHELLS = ['bash', 'zsh', 'fish'] as const
export type Shell = (typeof SHELLS)[number]

export interface CompletedCommand {
  readonly name: string
  readonly summary: string
  readonly options: readonly { readonly name: string; readonly about: string }[]
}

export function completionScript(shell: Shell, commands: readonly CompletedCommand[]): string {
  return SCRIPTS[shell](commands)
}

const SCRIPTS: Readonly<Record<Shell, (commands: readonly CompletedCommand[]) => string>> = { bash, zsh, fish }
const HARNESSES = HARNESS_IDS.join(' ')

function bash(commands: readonly CompletedCommand[]): string {
  return [
    '_inspan() {',
    '  local current="${COMP_WORDS[COMP_CWORD]}" previous="${COMP_WORDS[COMP_CWORD-1]}" words=""',
    '  if [ "$COMP_CWORD" -eq 1 ]; then',
    `    words="${[...commands.map(({ name }) => name), 'help'].join(' ')}"`,
    '  else',
    '    case "$previous" in',
    `      --harness) words="${HARNESSES}" ;;`,
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
      const specs = options.map((each) => quoted(`${each.name}[${each.about.replaceAll(/[[\]:]/g, ' ')}]`))
      return `    ${name}) _arguments ${[...specs, quoted('*:file:_files')].join(' ')} ;;`
    }),
    '  esac',
    '}',
    'compdef _inspan inspan',
    '',
  ].join('\n')
}

function fish(commands: readonly CompletedCommand[]): string {
  const first = commands.map(
    ({ name, summary }) => `complete -c inspan -n __fish_use_subcommand -f -a ${name} -d ${quoted(summary)}`,
  )
  const options = commands.flatMap(({ name, options: all }) =>
    all.map((each) => {
      const values = each.name === '--harness' ? ` -x -a ${quoted(HARNESSES)}` : ''
      return `complete -c inspan -n ${quoted(`__fish_seen_subcommand_from ${name}`)} -l ${each.name.slice(2)}${values} -d ${quoted(each.about)}`
    }),
  )
  return `${[...first, ...options].join('\n')}\n`
}

function quoted(text: string): string {
  return `'${text.replaceAll("'", String.raw`'\''`)}'`
}
