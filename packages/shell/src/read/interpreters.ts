import type { SimpleCommand, Word } from './reading.ts'

/** The options that carry program text, by name of the interpreter. */
const INLINE: readonly (readonly [RegExp, RegExp])[] = [
  [/^(?:python|pypy)[\d.]*$/, /^-[a-zA-Z]*c/],
  [/^(?:node|nodejs|bun|deno|tsx|ts-node|esno|zx)$/, /^(?:-[a-z]*[ep]|--eval|--print)(?:=|$)|^eval$/],
  [/^perl[\d.]*$/, /^-[a-zA-Z0-9]*[eE]/],
  [/^(?:ruby|lua|luajit|Rscript|osascript|ocaml|ghc|julia)[\d.]*$/, /^-[a-zA-Z]*e|^--eval/],
  [/^php[\d.]*$/, /^-[rBRE]/],
  [/^(?:pwsh|powershell)$/i, /^-(?:c|command|e|ec|encodedcommand)$/i],
  [/^(?:fish|nu|elvish|xonsh|csh|tcsh)$/, /^-[a-zA-Z]*c|^--command/],
  [/^(?:tclsh|wish|expect)[\d.]*$/, /^-c/],
]

/** Programs that can take code in an option. Without that option they do not count as interpreters. */
const EVALUATES: readonly (readonly [RegExp, RegExp])[] = [
  [
    /^(?:R|groovy|elixir|raku|jruby|racket|clojure|clj|bb|scala|swipl|octave|gnuplot|mongosh|mongo)$/,
    /^(?:-e|--eval)(?:=|$)/,
  ],
  [/^(?:ipython3?|micropython|guile|gjs|sage)$/, /^-c$/],
  [/^qjs$/, /^(?:-[a-z]*[ep]|--eval|--print)(?:=|$)/],
  [/^(?:sbcl|erl|iex)$/, /^--?e(?:val)?$/],
]

/** With the test option and no file, these find the files themselves. */
const FINDS_TESTS = /^(?:node|nodejs)$/
const ASKS_ABOUT_ITSELF = /^(?:-h|-v|-V|--help|--version)$/

/** Other names of an open descriptor, by whatever path `/dev` or `/proc` is reached. */
const INPUT_FILE = /(?:^|\/)(?:stdin|fd\/(?:\.?\/)*\d+)$/

/** True if the file is an input of the program itself. */
export function isInputFile({ text }: Word): boolean {
  return INPUT_FILE.test(text)
}

/** Returns how an interpreter of another language gets its program; null for other programs. */
export function interpreterRuns(base: string, args: readonly Word[]): SimpleCommand['runs'] {
  const inline = INLINE.find(([name]) => name.test(base))?.[1]
  if (inline === undefined) {
    const option = EVALUATES.find(([name]) => name.test(base))?.[1]
    return option !== undefined && args.some(({ text }) => option.test(text)) ? 'inline-code' : null
  }
  if (/^(?:bun|deno)$/.test(base) && args.some((arg) => arg.text === '-' || isInputFile(arg))) return 'stdin-script'
  for (const arg of args) {
    const { text } = arg
    if (inline.test(text)) return 'inline-code'
    if (text === '-' || text.startsWith('-')) continue
    return isInputFile(arg) || arg.expansions.includes('process') ? 'stdin-script' : 'file'
  }
  if (FINDS_TESTS.test(base) && args.some((arg) => arg.text === '--test')) return 'file'
  return args.some((arg) => ASKS_ABOUT_ITSELF.test(arg.text)) ? null : 'stdin-script'
}
