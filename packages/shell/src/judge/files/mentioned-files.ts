import type { SimpleCommand, Word } from '../../read/index.ts'
import { baseOf, isOption, isReadable } from '../deny/argument.ts'
import { isFreeVariable } from '../grammar/variables.ts'
import { alternatives, widenName } from './glob-word.ts'
import { isMessage, isProse } from '../deny/message-values.ts'
import { programBase } from '../../programs/program-base.ts'
import { takesInputAsData } from '../../programs/programs.ts'

/** A name within a longer text. */
export interface Mention {
  readonly name: string
  readonly isGlob: boolean
}

/** The most names that are looked at in the texts of one command; with more, any file may be meant. */
const MOST_NAMES = 2_000

/** Characters of a word that is more than one name: blanks, quotes, brackets, operators. */
const IS_TEXT = /[\s"'`()|;!\\>&]/
const HAS_BRACES = /\{[^{}]*\}/
const BETWEEN = /[\s"'`()[\]{}<>|;,=@!&:\\]+/
const QUOTES = /["'`\\]+/
const LONGEST_SPREAD = 1_000
const PRINTS = /^(?:echo|printf|cat)$/
const PATCHES = /^(?:apply_patch|applypatch|patch|git|git-apply|git-am)$/
/** Where a patch names the files that it changes. */
const PATCHED =
  /^(?:\*{3} (?:Update|Add|Delete) File:|\*{3} Move to:|\+\+\+|---|(?:rename|copy) (?:from|to)|diff --git|Index:)(.*)$/gm
/** Programs whose texts are patterns or filters; the files they read or run are found elsewhere. */
const HOLDS_NO_NAMES =
  /^(?:[ef]?grep|rg|ag|ack|jq|find|gfind|sed|gsed|[gmn]?awk|gh|glab|hub|mail|logger|notify-send|\[|\[\[|\(\(|test)$/

/**
 * Returns the files that a longer text may name: commands for an editor, a database client or an unknown program (`vim
 * -c 'w .env'`), a script on the input (`sftp h <<< 'put .env'`), a patch. Null when there are too many names to look
 * at.
 */
export function mentionedFiles(
  base: string,
  command: SimpleCommand,
  commands: readonly SimpleCommand[],
): readonly Mention[] | null {
  const found = new Set<string>()
  for (const text of textsOf(base, command, commands)) {
    for (const name of namesIn(text)) found.add(name)
    if (found.size > MOST_NAMES) return null
  }
  return [...found].map((name) => {
    const isGlob = /[*?[]/.test(name)
    return { name: isGlob ? name.split('/').map(widenName).join('/') : name, isGlob }
  })
}

/** Splits a text into names, both with its quotes as separators and with its quotes removed: `.e"n"v`. */
export function namesIn(text: string): readonly string[] {
  return spreadText(text).filter((name) => name !== '' && name !== '*' && !isOption(name))
}

function spreadText(text: string): readonly string[] {
  // Programs expand braces, too.
  if (!IS_TEXT.test(text) && text.length < LONGEST_SPREAD) return alternatives(text) ?? [text, ...text.split(BETWEEN)]
  const plain = text.split(BETWEEN)
  return QUOTES.test(text) ? [...plain, ...text.split(QUOTES).join('').split(BETWEEN)] : plain
}

function textsOf(base: string, command: SimpleCommand, commands: readonly SimpleCommand[]): string[] {
  const { args, assignments, launcher, redirections, runs, unknown } = command
  const settings = assignments.filter(({ name }) => isRun(name)).map(({ value }) => value.text)
  const bodies = redirections.flatMap(({ body, target }) => {
    const text = body ?? target?.text
    return text === undefined ? [] : [text]
  })
  const patches = PATCHES.test(base) ? [...bodies, ...args.map(({ text }) => text)].flatMap(patchedFiles) : []
  // What a shell reads is among the commands already.
  if (launcher === 'shell' && unknown === null) return settings
  const isCode = runs === 'stdin-script' || (base !== '' && !takesInputAsData(base) && launcher === null)
  const inputs = isCode ? bodies : []
  if (PRINTS.test(base)) {
    const reader = readerOf(command, commands)
    if (reader === null) return settings
    const printed = [...args.map(({ text }) => text), ...bodies].filter((text) => IS_TEXT.test(text))
    return [...settings, ...(reader === 'patch' ? printed.flatMap(patchedFiles) : printed)]
  }
  return [...settings, ...inputs, ...patches, ...args.filter((word, at) => isTold(base, command, word, at)).map(textOf)]
}

const NAMES_COMMAND = /(?:COMMAND|CMD|RUNNER|SHELL|OPTS|OPTIONS|FLAGS|WRAPPER|HOOK)$/

function isRun(variable: string): boolean {
  return !isFreeVariable(variable) || NAMES_COMMAND.test(variable)
}

function textOf({ text }: Word): string {
  return text
}

/** True for a word that is a text for the program, and no message for people. */
function isTold(base: string, { args, runs, unknown }: SimpleCommand, { text }: Word, at: number): boolean {
  if (!(IS_TEXT.test(text) || HAS_BRACES.test(text)) || runs === 'inline-code') return false
  if (HOLDS_NO_NAMES.test(base)) return false
  // For git, only what makes it run something is a script.
  if (/^git(?:-|$)/.test(base)) return unknown !== null
  return !isProse(base, args, at)
}

function patchedFiles(text: string): string[] {
  // The name is prefixed with its side: `a/`, `b/`.
  return [...text.matchAll(PATCHED)].flatMap(([, names = '']) => [names, names.replaceAll(/(^|\s)[a-z]\//g, '$1')])
}

/** `git commit -m "$(cat …)"`: the output is a message and nothing else. */
function isForMessage({ parent }: SimpleCommand, commands: readonly SimpleCommand[]): boolean {
  const outer = parent === null ? undefined : commands[parent]
  if (outer?.name === undefined || outer.name === null || outer.assignments.length > 0) return false
  if (!isReadable(outer.name) || outer.redirections.length > 0) return false
  const base = programBase(outer.name.text)
  const made = [...outer.args.entries()].filter(([, { expansions }]) => expansions.includes('command'))
  return made.length > 0 && made.every(([at]) => isMessage(base, outer.args, at))
}

/** Returns what reads the output of a command as more than data; null when nothing does. */
function readerOf(command: SimpleCommand, commands: readonly SimpleCommand[]): 'code' | 'patch' | null {
  const { index, origin, pipeline, stage, stages } = command
  if (origin === 'process-substitution') return 'code'
  if (origin === 'substitution') return isForMessage(command, commands) ? null : 'code'
  if (stage === stages - 1) return null
  let found: 'code' | 'patch' | null = null
  for (const each of commands.slice(index + 1)) {
    if (each.pipeline === pipeline && each.stage <= stage) continue
    const base = baseOf(each)
    if (PATCHES.test(base)) found ??= 'patch'
    else if (each.runs === 'stdin-script' || !takesInputAsData(base)) found = 'code'
  }
  return found
}
