import { didYouMean } from '@inspan/protocol/internal'

export type SlashName =
  | 'help'
  | 'new'
  | 'threads'
  | 'fork'
  | 'rename'
  | 'mode'
  | 'model'
  | 'files'
  | 'rewind'
  | 'grants'
  | 'copy'
  | 'cancel'
  | 'quit'

interface SlashCommandInfo {
  readonly name: SlashName
  readonly description: string
  readonly argument?: string
}

export const SLASH_COMMANDS: readonly SlashCommandInfo[] = [
  { name: 'help', description: 'show commands and keys' },
  { name: 'new', description: 'start a new thread' },
  { name: 'threads', description: 'list threads, or open one', argument: '[number]' },
  { name: 'fork', description: 'continue in a copy of this thread' },
  { name: 'rename', description: 'name this thread', argument: '<title>' },
  { name: 'mode', description: 'list modes, or change to one', argument: '[mode]' },
  { name: 'model', description: 'list models, or change to one', argument: '[provider/model]' },
  { name: 'files', description: 'show what this thread changed' },
  {
    name: 'rewind',
    description: 'undo changes: lists messages, shows what would change, then does it',
    argument: '[number] [yes]',
  },
  { name: 'grants', description: 'list what is always allowed, or revoke it', argument: '[number]' },
  { name: 'copy', description: 'copy the last answer' },
  { name: 'cancel', description: 'interrupt the run' },
  { name: 'quit', description: 'leave' },
]

export type Slash =
  | { readonly type: 'command'; readonly name: SlashName; readonly argument: string }
  | { readonly type: 'unknown'; readonly message: string }

/** Reads a slash command; `undefined` for any other text, also one that begins with a path. */
export function readSlash(text: string): Slash | undefined {
  const match = /^\/([A-Za-z-]*)(?:\s+([\s\S]*))?$/.exec(text.trim())
  if (match === null) return undefined
  const [, given = '', argument = ''] = match
  const found = SLASH_COMMANDS.find(({ name }) => name === given.toLowerCase())
  if (found !== undefined) return { type: 'command', name: found.name, argument: argument.trim() }
  const names = SLASH_COMMANDS.map(({ name }) => `/${name}`)
  return { type: 'unknown', message: `There is no command /${given}. ${didYouMean(`/${given}`, names)}` }
}

export function helpLines(): readonly string[] {
  const titles = SLASH_COMMANDS.map((each) => {
    const title = each.argument === undefined ? `/${each.name}` : `/${each.name} ${each.argument}`
    return [title, each.description] as const
  })
  const keys = [
    ['Enter', 'send; during a run the agent hears it before its next step'],
    ['Alt+Enter', 'queue the message until the run is over'],
    ['Shift+Enter, Ctrl+J', 'new line'],
    ['Up, Down', 'earlier messages'],
    ['@', 'complete the name of a file'],
    ['Esc', 'interrupt the run'],
    ['Ctrl+O', 'unfold or fold outputs'],
    ['Ctrl+C', 'clear the input; twice: leave'],
  ] as const
  const rows = [...titles, ...keys]
  const width = Math.max(...rows.map(([title]) => title.length))
  return rows.map(([title, description]) => `${title.padEnd(width)}  ${description}`)
}
