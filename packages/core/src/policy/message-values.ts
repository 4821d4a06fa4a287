import type { Word } from '@evener/shell/read'

interface Messages {
  /** The words in front: a subcommand, or two. */
  readonly begins: RegExp
  readonly words: number
  /** Takes the next word for its message, whatever that looks like. */
  readonly option: RegExp
  /** Takes nothing, and may stand before it. */
  readonly flag: RegExp
}

const MESSAGES: ReadonlyMap<string, Messages> = new Map([
  [
    'git',
    {
      begins: /^(?:commit|tag|merge)$/,
      words: 1,
      option: /^(?:-[aqsv]*m|--message)$/,
      flag: /^(?:-[aqsv]+|--(?:all|amend|signoff|quiet|verbose|allow-empty))$/,
    },
  ],
  [
    'gh',
    {
      begins: /^(?:pr|issue|release) (?:create|edit|comment)$/,
      words: 2,
      option: /^--(?:title|body|notes)$/,
      flag: /^--draft$/,
    },
  ],
])

/** `git commit -m "$(cat …)"`: the word is a message, whatever it becomes, and no option. */
export function isMessage(program: string, args: readonly Word[], at: number): boolean {
  const messages = MESSAGES.get(program)
  if (messages === undefined || args[at]?.splits !== false) return false
  const { begins, flag, option, words } = messages
  const front = args.slice(0, words)
  if (front.some((word) => word.dynamic) || !begins.test(front.map(({ text }) => text).join(' '))) return false
  let place = words
  while (place < at) {
    const word = args[place]
    if (word === undefined || word.dynamic) return false
    if (option.test(word.text)) {
      if (place + 1 === at) return true
      place += 2
    } else if (flag.test(word.text)) place += 1
    else return false
  }
  return false
}
