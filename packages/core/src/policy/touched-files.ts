import { posix } from 'node:path'
import type { Redirection, SimpleCommand, Word } from '@evener/shell/read'
import { isOption, isReadable } from './argument.ts'
import { hints, pathspec, spread, type Spread } from './glob-word.ts'
import { locate, type Location, type Whereabouts } from './location.ts'
import { programBase } from './program-base.ts'
import { isReadOnly } from './read-only.ts'
import { changesFiles } from './writing-commands.ts'

/** A file or folder that a command touches, or at least names. */
export interface Touch {
  readonly access: 'read' | 'edit' | 'either'
  /** As written; null when it is only known when it runs. */
  readonly path: string | null
  /** Where the command may stand: more than one when a `cd` need not have worked. */
  readonly from: readonly Location[]
  /** False when it only names something that may be a path. */
  readonly isCertain: boolean
  readonly isTree: boolean
  /** A `*` in the path stands for any characters. */
  readonly isGlob: boolean
  /** A `*` in front of a name matches a dot. */
  readonly withHidden: boolean
  /** Opened by the shell itself, whatever the program. */
  readonly isRedirection: boolean
  readonly part: string
}

/** A single file that a program is told of by its name. */
const PLAIN = { isTree: false, isGlob: false, withHidden: false, isRedirection: false } as const

function names(list: string): ReadonlySet<string> {
  return new Set(list.split(/\s+/))
}

const READS = names(
  'cat head tail less more nl tac bat batcat base64 xxd od hexdump strings source . wc cut sort uniq rev fold md5sum sha1sum sha256sum',
)
const LOOKS = names('ls dir tree grep egrep fgrep rg ag ack stat file diff cmp du df jq find')
/** Whatever they are told, no file's content comes of it. */
const IGNORES = names('cd pushd popd echo printf test [ which type pwd true false :')
const PRINTS = names('echo printf')
const EDITS = names('rm unlink rmdir shred truncate tee touch mkdir mv chmod chown chgrp')
const REACHES_BELOW = names('rm mv cp rsync scp chmod chown chgrp ln tar zip shred install')
const ONLY_LISTS = names('ls dir tree stat file du df find')
/** They print what is in the files they are given, whatever else they are told. */
const SHOWS = names('grep egrep fgrep rg ag ack diff cmp jq sed gsed awk gawk mawk nawk')

const RECURSIVE = /^-[a-zA-Z]*[rR]|^--(?:dereference-)?recursive$/

/** Hardly anybody names a folder like this. */
const IS_FILE = /[^/*]\.(?:[cm]?tsx?|[cm]js|jsx|py|rs|java|kt|rb|php|[ch]|[ch]pp|cs|swift|md|txt|ya?ml|toml|css|scss)$/
/** They take folders as well as files, without being told. */
const TAKES_FOLDERS = /^(?:mv|rsync|tar|zip)$/

/** It goes into the folder behind it. */
const WORKS_IN = /^(?:-C|--directory|--cwd|--prefix)$/
const MOST_PLACES = 8

const HARMLESS_TARGET = /^\/dev\/(?:null|stdout|stderr|tty|zero|full)$/
const NETWORK = /^\/dev\/(?:tcp|udp)\//
const WRITES = new Set(['write', 'append', 'read-write'])

export function touchedFiles(command: SimpleCommand, where: Whereabouts, withHidden: boolean): Touch[] {
  const from = standingPlaces(command, where)
  const base = command.name === null || !isReadable(command.name) ? '' : programBase(command.name.text)
  const touches = [
    ...command.redirections.flatMap((redirection) => redirected(redirection, command, from)),
    ...(copied(base, command, from) ?? given(base, command, from)),
    ...searched(base, command, from),
    ...swept(base, command, from),
    ...spelledInCode(base, command, from),
    ...hinted(base, command, from),
  ]
  return withHidden ? touches.map((touch): Touch => ({ ...touch, withHidden })) : touches
}

/** What its arguments name, or may come to name. */
function given(base: string, command: SimpleCommand, from: readonly Location[]): Touch[] {
  const args = command.args
    .filter((word) => !isProcess(word))
    .flatMap((word) => (base === 'git' ? [...spread(word), ...pathspec(word)] : spread(word)))
  const unknown = command.appended || args.some(({ word }) => !isReadable(word)) ? unnamed(base, command, from) : []
  if (IGNORES.has(base) && !(PRINTS.has(base) && isPassedOn(command))) return command.appended ? unknown : []
  const found = args
    // Which names there are is no secret.
    .filter(({ isGlob, word }) => isReadable(word) && !(isGlob && ONLY_LISTS.has(base)))
    .flatMap(({ isGlob, word }) => named(word, base, command, from).map((touch): Touch => ({ ...touch, isGlob })))
  if (!(READS.has(base) || LOOKS.has(base)) || isReadOnly(command)) return [...found, ...unknown]
  // What prints by itself writes with some option or operand: it may be this one.
  return [...found.flatMap((touch): Touch[] => [touch, { ...touch, access: 'edit', isCertain: false }]), ...unknown]
}

/** What it prints may be a file for another command. */
function isPassedOn({ origin, stage, stages }: SimpleCommand): boolean {
  return stage < stages - 1 || origin === 'substitution' || origin === 'process-substitution'
}

/** Files that are named in part, in a variable, or on the input. */
function hinted(
  base: string,
  { args, assignments, redirections, ...command }: SimpleCommand,
  from: readonly Location[],
): Touch[] {
  const given = redirections.flatMap(({ kind, target }) => (kind === 'here-string' && target !== null ? [target] : []))
  const beside = [...assignments.map(({ value }) => value), ...given].flatMap((word) =>
    isReadable(word) ? [{ word, isGlob: false }] : hints(word),
  )
  const among = IGNORES.has(base) ? [] : args.filter((word) => !isReadable(word) && !isProcess(word)).flatMap(hints)
  const touch = (name: string, { isGlob, word }: Spread): Touch[] =>
    named(word, name, { ...command, args }, from).map((each): Touch => ({
      ...each,
      isGlob,
      isCertain: false,
      isTree: false,
    }))
  return [...among.flatMap((each) => touch(base, each)), ...beside.flatMap((each) => touch('', each))]
}

/** What comes from another command, which is judged by itself. */
function isProcess({ expansions, text }: Word): boolean {
  return expansions.length === 1 && expansions[0] === 'process' && /^[<>]\(.*\)$/s.test(text)
}

/** What a program does to a file that is only known when it runs. */
function unnamed(base: string, command: SimpleCommand, from: readonly Location[]): Touch[] {
  const { source } = command
  const common = { ...PLAIN, path: null, from, isCertain: true, part: source } as const
  if (READS.has(base) || SHOWS.has(base)) {
    return [{ ...common, access: changesFiles(command) === 'no' ? 'read' : 'either' }]
  }
  const found: Touch[] = []
  if (EDITS.has(base)) found.push({ ...common, access: 'edit' })
  if (base === 'mv' || (REACHES_BELOW.has(base) && !EDITS.has(base))) found.push({ ...common, access: 'either' })
  return found
}

/** To diff a folder is what lies in it. */
const SEARCHES = /^(?:rg|ag|ack|diff)$/
const SEARCHES_IF_TOLD = /^[ef]?grep$/
const NAMES_PATTERN = /^(?:-[a-zA-Z]*[ef]|--(?:regexp|file))/

/** A search through folders reads whatever lies there. Its first operand is what it looks for, unless an option says that. */
function searched(base: string, { args, source }: SimpleCommand, from: readonly Location[]): Touch[] {
  const isTold = (): boolean => args.some(({ text }) => RECURSIVE.test(text))
  if (!SEARCHES.test(base) && !(SEARCHES_IF_TOLD.test(base) && isTold())) return []
  const operands = args.filter((word) => !isOption(word.text) && !isProcess(word))
  const isAllFolders = base === 'diff' || args.some(({ text }) => NAMES_PATTERN.test(text))
  const folders = isAllFolders ? operands : operands.slice(1)
  const common = { ...PLAIN, access: 'read', from, isCertain: true, part: source } as const
  if (folders.length === 0) return base === 'diff' ? [] : [{ ...common, path: '.', isTree: true }]
  return folders.flatMap(spread).map(({ isGlob, word }): Touch => {
    return { ...common, path: pathOf(word, from), isTree: isTold() || !IS_FILE.test(word.text), isGlob }
  })
}

/** `find … -delete` and its kin change what lies below the folders they start from. */
function swept(base: string, command: SimpleCommand, from: readonly Location[]): Touch[] {
  if (!/^g?find$/.test(base) || changesFiles(command) === 'no') return []
  const end = command.args.findIndex(({ text }) => /^[-(!]/.test(text))
  const folders = end === -1 ? command.args : command.args.slice(0, end)
  const common = { ...PLAIN, access: 'edit', from, isCertain: true, isTree: true, part: command.source } as const
  if (folders.length === 0) return [{ ...common, path: '.' }]
  return folders.flatMap(spread).map(({ isGlob, word }): Touch => ({ ...common, path: pathOf(word, from), isGlob }))
}

const TEXT_LITERAL = /(["'`])((?:(?!\1)[^\\\n]){1,300})\1/g
const MOST_LITERALS = 1_000

/** Code that is given as an argument, or on the input, may name files in its texts. */
function spelledInCode(base: string, command: SimpleCommand, from: readonly Location[]): Touch[] {
  const { args, redirections, runs, source } = command
  const isScript = /^(?:g?sed|[gmn]?awk)$/.test(base)
  const codes = [
    ...(runs === 'inline-code' || isScript ? args.map(({ text }) => text) : []),
    ...(runs === 'stdin-script' ? redirections.map(({ body }) => body ?? '') : []),
  ]
  const found = new Set(codes.flatMap((code) => [...code.matchAll(TEXT_LITERAL)].map(([, , text = '']) => text)))
  if (/^g?sed$/.test(base)) for (const code of codes) for (const word of code.split(/[\s;{}]+/)) found.add(word)
  // `open F, "<name"`
  for (const literal of found) for (const part of parts(literal)) found.add(part.trim())
  found.delete('')
  const common = { ...PLAIN, access: 'either', from, part: source } as const
  if (found.size > MOST_LITERALS) return [{ ...common, path: null, isCertain: true }]
  return [...found].map((path): Touch => ({ ...common, path, isCertain: false }))
}

/** Opens a connection, which no rule about reading files means. */
export function opensNetwork({ kind, target }: Redirection): boolean {
  return kind !== 'duplicate' && target !== null && NETWORK.test(target.text)
}

function standingPlaces({ args, cwd, cwdAssumed }: SimpleCommand, { start, home }: Whereabouts): Location[] {
  if (cwd === null) return []
  const there = locate(cwd, start, home)
  const places = cwdAssumed ? [there, start] : [there]
  for (const [at, { text }] of args.entries()) {
    const folder = WORKS_IN.test(text) ? args[at + 1] : undefined
    if (folder !== undefined && isReadable(folder))
      places.push(...places.map((place) => locate(folder.text, place, home)))
    if (places.length > MOST_PLACES) break
  }
  return places
}

function redirected({ kind, target }: Redirection, command: SimpleCommand, from: readonly Location[]): Touch[] {
  const isWrite = WRITES.has(kind)
  if (target === null || !(isWrite || kind === 'read')) return []
  if (!target.dynamic && HARMLESS_TARGET.test(target.text)) return []
  const access = isWrite ? 'edit' : 'read'
  const common = { ...PLAIN, access, from, isCertain: true, isRedirection: true, part: command.source } as const
  return spread(target).map(({ isGlob, word }): Touch => ({ ...common, path: pathOf(word, from), isGlob }))
}

function named(
  arg: Word,
  base: string,
  command: Pick<SimpleCommand, 'args' | 'source'>,
  from: readonly Location[],
): Touch[] {
  const isTree = REACHES_BELOW.has(base) && (mayTakeFolders(base, command) || !IS_FILE.test(arg.text))
  const common = { ...PLAIN, from, isTree, part: command.source }
  const access = READS.has(base) || LOOKS.has(base) ? 'read' : EDITS.has(base) ? 'edit' : 'either'
  const inside = parts(arg.text).map((path): Touch => ({ ...common, access, path, isCertain: false, isTree: false }))
  const text = isOption(arg.text) ? valueOf(arg.text) : arg.text
  if (text === '') return inside
  const path = text === arg.text ? pathOf(arg, from) : text
  const isOperand = !isOption(arg.text)
  // Under its new name a file can be read.
  if (base === 'mv') inside.push({ ...common, access: 'read', path, isCertain: false, isTree: false })
  if (READS.has(base) || EDITS.has(base)) return [{ ...common, access, path, isCertain: isOperand }, ...inside]
  const value = isOperand ? valueOf(text) : ''
  const whole = value === '' ? [isOperand ? spelled(arg) : path] : [spelled(arg), value]
  return [...whole.map((each): Touch => ({ ...common, access, path: each, isCertain: false })), ...inside]
}

function mayTakeFolders(base: string, { args }: Pick<SimpleCommand, 'args'>): boolean {
  return TAKES_FOLDERS.test(base) || args.some(({ text }) => RECURSIVE.test(text))
}

const COPIES_NO_FOLDER = /^-[fvinpu]+$/

/** A plain copy of files: what is read, and what is written at the place it names or below; null for any other. */
function copied(base: string, { appended, args, source }: SimpleCommand, from: readonly Location[]): Touch[] | null {
  const operands = args.filter(({ text }) => !COPIES_NO_FOLDER.test(text))
  const target = operands.at(-1)
  if (base !== 'cp' || appended || target === undefined || operands.length < 2) return null
  if (operands.some((word) => !isReadable(word) || isOption(word.text))) return null
  const common = { ...PLAIN, from, isCertain: false, part: source } as const
  const sources = operands.slice(0, -1).map((word) => pathOf(word, from))
  const folder = pathOf(target, from)
  const targets = sources.map((path) => (path === null || folder === null ? null : `${folder}/${posix.basename(path)}`))
  return [
    ...sources.map((path): Touch => ({ ...common, access: 'read', path })),
    ...[folder, ...targets].map((path): Touch => ({ ...common, access: 'edit', path })),
  ]
}

/** `@file`, `name=<file`, `REV:file`, `type=bind,src=file`: a word may name a file besides other things. */
function parts(text: string): string[] {
  return /[@:<,]/.test(text) ? text.split(/[=@:;,<]/).filter((part) => part !== '' && !isOption(part)) : []
}

/** Behind `=`, or attached to a letter as in `-ofile`. */
function valueOf(text: string): string {
  const equals = text.indexOf('=')
  if (equals !== -1) return text.slice(equals + 1)
  return /^-[A-Za-z][^-]/.test(text) ? text.slice(2) : ''
}

/** As it stands there, where nobody knows whether it is a path at all. Behind `~+` and the like it is one of some folder. */
function spelled({ dynamic, text }: Word): string {
  if (dynamic && /^~[^/]/.test(text)) return text.slice(text.indexOf('/') + 1)
  return !dynamic && text.startsWith('~') ? `./${text}` : text
}

/** Relative to nowhere it is as unknown as an expansion. A quoted `~` is a name like any other. */
function pathOf(word: Word, from: readonly Location[]): string | null {
  if (!isReadable(word)) return null
  const { text } = word
  if (text.startsWith('/')) return text
  // `~+` is where it stands, and whose home another name means is not known.
  if (word.dynamic && text.startsWith('~')) return /^~(?:\/|$)/.test(text) ? text : null
  if (from.length === 0) return null
  return text.startsWith('~') ? `./${text}` : text
}
