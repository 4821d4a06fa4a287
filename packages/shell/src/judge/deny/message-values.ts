import type { Word } from '../../read/index.ts'

interface MessageOptions {
  /** The first words: a subcommand, or two. */
  readonly begins: RegExp
  readonly words: number
  /** Options that take the next word as the message, whatever it looks like. */
  readonly option: RegExp
  /** Options without a value that may come before it. */
  readonly flag: RegExp
}

const MESSAGES: ReadonlyMap<string, MessageOptions> = new Map([
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

/** True for a word that is a message and no option, whatever it becomes: `git commit -m "$(cat …)"`. */
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

const PROSE_OPTION =
  /^--(?:message|title|body|notes|description|comment|reason|subject|grep|test-?name-?pattern)(?:=|$)/i
const PROSE_LETTER = /^-[tgmk]$/
const RUNS_TESTS = /^(?:npm|npx|pnpm|yarn|bun|vitest|jest|mocha|ava|tap|playwright|pytest|cargo|go|node)$/

/** True for a text for people, or a part of a test's name: it names no file that is used. */
export function isProse(program: string, args: readonly Word[], at: number): boolean {
  const before = args[at - 1]?.text ?? ''
  if (PROSE_OPTION.test(args[at]?.text ?? '') || PROSE_OPTION.test(before)) return !before.includes('=')
  return RUNS_TESTS.test(program) && PROSE_LETTER.test(before)
}
