import type { Word } from '../../read/index.ts'
import { isOption } from '../deny/argument.ts'

export interface GitOrder {
  readonly subcommand: string
  /** The words after the subcommand. */
  readonly words: readonly Word[]
}

const TAKES_NEXT = /^(?:-[cC]|--(?:git-dir|work-tree|namespace|config-env|attr-source))$/

/** Returns the index of the subcommand after git's own options; -1 when there is none. */
export function subcommandPlace(texts: readonly string[]): number {
  return texts.findIndex((text, at) => !isOption(text) && !TAKES_NEXT.test(texts[at - 1] ?? ''))
}

/** Returns the subcommand of git, also of `git-log`; null when it is not git. */
export function gitOrder(base: string, args: readonly Word[]): GitOrder | null {
  if (base.startsWith('git-')) return { subcommand: base.slice('git-'.length), words: args }
  if (base !== 'git') return null
  const at = subcommandPlace(args.map(({ text }) => text))
  return { subcommand: args[at]?.text ?? '', words: args.slice(at + 1) }
}
