import { posix } from 'node:path'
import type { Redirection, SimpleCommand, Word } from '../../read/index.ts'
import { baseOf, isOption, isReadable } from '../deny/argument.ts'
import { plainCode } from '../deny/plain-code.ts'
import { shownByGit } from './git-contents.ts'
import { gitFiles } from './git-files.ts'
import { gitOrder } from './git-order.ts'
import { hints, spread, type Spread } from './glob-word.ts'
import { locate, type Location, type Whereabouts } from '../patterns/location.ts'
import { mentionedFiles, namesIn } from './mentioned-files.ts'
import { isAwk, isLanguage, isSed } from '../../programs/programs.ts'
import { openedInside } from './opened-inside.ts'
import { isReadOnly } from './read-only.ts'
import { IS_FILE, PLAIN, type Touch } from './touch.ts'
import { wordList } from '../../programs/word-list.ts'
import { changesFiles } from './writing-commands.ts'

const READS = wordList(
  'cat head tail less more nl tac bat batcat base64 xxd od hexdump strings source . wc cut sort uniq rev fold md5sum sha1sum sha256sum',
)
const LOOKS = wordList('ls dir tree grep egrep fgrep rg ag ack stat file diff cmp du df jq find')
/** Programs that show no file's contents, whatever their arguments. */
const IGNORES = wordList('cd pushd popd echo printf test [ which type pwd true false :')
const PRINTS = wordList('echo printf')
const EDITS = wordList('rm unlink rmdir shred truncate tee touch mkdir mv chmod chown chgrp')
const REACHES_BELOW = wordList(
  'rm mv cp rsync scp chmod chown chgrp ln tar zip shred install 7z 7za 7zr 7zz rar jar pax mksquashfs genisoimage mkisofs ' +
    'xorriso rclone gsutil s3cmd restic borg duplicity',
)
/** The same, for single subcommands of programs. */
const COPIES_BELOW =
  /^(?:(?:docker|podman|nerdctl|kubectl|oc) (?:container )?cp|aws s3 (?:cp|sync|mv)|gcloud storage (?:cp|mv|rsync)|python[\d.]* -m (?:zipfile|tarfile|http\.server))\b/
const ONLY_LISTS = wordList('ls dir tree stat file du df find')
/** Programs that print the contents of the given files, whatever their other arguments. */
const SHOWS = wordList('grep egrep fgrep rg ag ack diff cmp jq sed gsed awk gawk mawk nawk')

/** Programs that read the names of the files to pack from their input. */
const NAMED_ON_INPUT = /^(?:cpio|afio)$/

const RECURSIVE = /^-[a-zA-Z]*[rR]|^--(?:dereference-)?recursive$/
/** The option that says whether grep reports, skips or searches folders. */
const TREATS_FOLDERS = /^(?:-[a-zA-Z]*d|--dir)/

/** Programs that take folders as well as files, without an option. */
const TAKES_FOLDERS = /^(?:mv|rsync|tar|zip)$/

/** Options with which a program works in the folder that follows. */
const WORKS_IN = /^(?:-C|--directory|--cwd|--prefix)$/
const MOST_PLACES = 8

const HARMLESS_TARGET = /^\/dev\/(?:null|stdout|stderr|tty|zero|full)$/
const NETWORK = /^\/dev\/(?:tcp|udp)\//
const WRITES = new Set(['write', 'append', 'read-write'])

/** Returns the files that a command touches. `commands` are all commands of the text, this one included. */
export function touchedFiles(
  command: SimpleCommand,
  commands: readonly SimpleCommand[],
  where: Whereabouts,
  withHidden: boolean,
): Touch[] {
  const from = standingPlaces(command, where)
  const base = baseOf(command)
  const touches = [
    ...command.redirections.flatMap((redirection) => redirected(redirection, command, from)),
    ...(copied(base, command, from) ?? given(base, command, from)),
    ...searched(base, command, from),
    ...swept(base, command, from),
    ...spelledInCode(base, command, from),
    ...hinted(base, command, from),
    ...mentioned(base, command, commands, from),
    ...gitFiles(base, command, from, where),
    ...unseen(command, from),
    ...mounted(base, command, from),
    ...patched(base, command, from),
    ...sent(base, command, from),
    ...loaded(base, command, from),
    ...openedInside(base, command, from),
    ...executed(command, from),
  ]
  return withHidden ? touches.map((touch): Touch => ({ ...touch, withHidden })) : touches
}

/**
 * Returns the files that a command shows without being given their names, which holds as long as no rule allows it by
 * the name of its subcommand.
 */
export function keptFiles(command: SimpleCommand, where: Whereabouts): Touch[] {
  return shownByGit(baseOf(command), command, standingPlaces(command, where), where)
}

/** A file that is run by its path is read, and a shell prints the lines it cannot run. */
function executed({ name, source }: SimpleCommand, from: readonly Location[]): Touch[] {
  if (name === null || !isReadable(name) || !name.text.includes('/')) return []
  return [{ ...PLAIN, access: 'read', path: name.text, from, isCertain: false, part: source }]
}

/** Returns the files that the arguments name, or may name at run time. */
function given(base: string, command: SimpleCommand, from: readonly Location[]): Touch[] {
  const args = command.args.filter((word) => !isProcess(word)).flatMap(spread)
  const unknown =
    command.appended || NAMED_ON_INPUT.test(base) || args.some(({ word }) => !isReadable(word))
      ? unnamed(base, command, from)
      : []
  if (IGNORES.has(base) && !(PRINTS.has(base) && isPassedOn(command))) return command.appended ? unknown : []
  const found = args
    // Names of files are no secret.
    .filter(({ isGlob, word }) => isReadable(word) && !(isGlob && ONLY_LISTS.has(base)))
    .toSorted((a, b) => rankOf(a.word) - rankOf(b.word))
    .flatMap(({ isGlob, word }) => named(word, base, command, from).map((touch): Touch => ({ ...touch, isGlob })))
  if (!(READS.has(base) || LOOKS.has(base)) || isReadOnly(command)) return [...found, ...unknown]
  // A printing program that is not read-only writes with some option or operand, which may be this one.
  return [...found.flatMap((touch): Touch[] => [touch, { ...touch, access: 'edit', isCertain: false }]), ...unknown]
}

const ARCHIVE = /\.(?:tar|t[gbx]z|zip|7z|rar|jar|gz|bz2|xz|zst)$/

/**
 * The first touch that is found explains a decision: rather `src` than the `f` of `-rf`, or the archive that `src` is
 * packed into.
 */
function rankOf({ text }: Word): number {
  if (isOption(text)) return 2
  return ARCHIVE.test(text) ? 1 : 0
}

/** True when another command gets the output, which may name a file. */
function isPassedOn({ origin, stage, stages }: SimpleCommand): boolean {
  return stage < stages - 1 || origin === 'substitution' || origin === 'process-substitution'
}

/** Returns the files that are named in part, in a variable, or on the input. */
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

/** True for the output of another command, which is judged on its own. */
function isProcess({ expansions, text }: Word): boolean {
  return expansions.length === 1 && expansions[0] === 'process' && /^[<>]\(.*\)$/s.test(text)
}

/** Returns what a program does to a file that is only known at run time. */
function unnamed(base: string, command: SimpleCommand, from: readonly Location[]): Touch[] {
  const { source } = command
  const common = { ...PLAIN, path: null, from, isCertain: true, part: source } as const
  if (READS.has(base) || SHOWS.has(base)) {
    return [{ ...common, access: changesFiles(command) === 'no' ? 'read' : 'either' }]
  }
  const found: Touch[] = []
  if (EDITS.has(base)) found.push({ ...common, access: 'edit' })
  if (NAMED_ON_INPUT.test(base)) found.push({ ...common, access: 'either' })
  if (base === 'mv' || (REACHES_BELOW.has(base) && !EDITS.has(base))) found.push({ ...common, access: 'either' })
  return found
}

/** Programs that search folders without an option; diff compares everything in a folder. */
const SEARCHES = /^(?:rg|ag|ack|ugrep|ug|ucg|sift|pt|diff)$/
const SEARCHES_IF_TOLD = /^(?:[ef]|g[ef]?|[bx]?z|zstd)?grep$/
const NAMES_PATTERN = /^(?:-[a-zA-Z]*[ef]|--(?:regexp|file))/

/** A search through folders reads every file in them. Its first operand is the pattern, unless an option gives that. */
function searched(base: string, { args, source }: SimpleCommand, from: readonly Location[]): Touch[] {
  const isTold = (): boolean => args.some(({ text }) => RECURSIVE.test(text) || TREATS_FOLDERS.test(text))
  if (!SEARCHES.test(base) && !(SEARCHES_IF_TOLD.test(base) && isTold())) return []
  const operands = args.filter((word) => !isOption(word.text) && !isProcess(word))
  const isAllFolders = base === 'diff' || args.some(({ text }) => NAMES_PATTERN.test(text))
  const folders = isAllFolders ? operands : operands.slice(1)
  const common = { ...PLAIN, access: 'read', from, isCertain: true, part: source } as const
  if (skipsHidden(base, args)) return seenOnly(folders, common, from)
  if (folders.length === 0) return base === 'diff' ? [] : [{ ...common, path: '.', isTree: true }]
  return folders.flatMap(spread).map(({ isGlob, word }): Touch => {
    return { ...common, path: pathOf(word, from), isTree: isTold() || !IS_FILE.test(word.text), isGlob }
  })
}

const SKIPS_HIDDEN =
  /^(?:-[nilcwvoFSsNHhxPU]+|-[ABCm]\d*|--(?:no-config|no-ignore|line-number|ignore-case|smart-case|count|files-with-matches|word-regexp|fixed-strings|heading|no-heading|column|json))$/

/**
 * By default rg skips hidden files, unless a config file, or a `!` in some `.gitignore`, says otherwise: only without
 * both it is certain.
 */
function skipsHidden(base: string, args: readonly Word[]): boolean {
  const texts = new Set(args.map(({ text }) => text))
  return (
    base === 'rg' &&
    texts.has('--no-config') &&
    texts.has('--no-ignore') &&
    args.every((word) => !word.dynamic && (!isOption(word.text) || SKIPS_HIDDEN.test(word.text)))
  )
}

function seenOnly(folders: readonly Word[], common: Omit<Touch, 'path'>, from: readonly Location[]): Touch[] {
  const paths = folders.length === 0 ? ['.'] : folders.map((word) => pathOf(word, from))
  return paths.flatMap((path): Touch[] => {
    if (path === null) return [{ ...common, path }]
    return [
      { ...common, path },
      { ...common, path: `${path}/**`, isGlob: true },
    ]
  })
}

/** `find … -delete` and the like change everything below the folders they start from. */
function swept(base: string, command: SimpleCommand, from: readonly Location[]): Touch[] {
  if (!/^g?find$/.test(base) || changesFiles(command) === 'no') return []
  const end = command.args.findIndex(({ text }) => /^[-(!]/.test(text))
  const folders = end === -1 ? command.args : command.args.slice(0, end)
  const common = { ...PLAIN, access: 'edit', from, isCertain: true, isTree: true, part: command.source } as const
  if (folders.length === 0) return [{ ...common, path: '.' }]
  return folders.flatMap(spread).map(({ isGlob, word }): Touch => ({ ...common, path: pathOf(word, from), isGlob }))
}

/** Code names its files in its strings, as far as it is understood. Any other code may use any file. */
function spelledInCode(base: string, command: SimpleCommand, from: readonly Location[]): Touch[] {
  const { runs, source, unknown } = command
  const isScript = (isSed(base) || isAwk(base)) && unknown !== null
  const isCode = runs === 'inline-code' || (runs === 'stdin-script' && isLanguage(base))
  if (!isCode && !isScript) return []
  const common = { ...PLAIN, access: 'either', from, part: source } as const
  const texts = isCode ? plainCode(command) : null
  if (texts === null) return [{ ...common, path: null, isCertain: true }]
  const names = new Set(texts.flatMap((text) => [text, ...namesIn(text)]))
  names.delete('')
  return [...names].map((path): Touch => ({ ...common, path, isCertain: false }))
}

/** Returns the names in longer texts for a program, or in text that is printed for it. */
function mentioned(
  base: string,
  command: SimpleCommand,
  commands: readonly SimpleCommand[],
  from: readonly Location[],
): Touch[] {
  const common = { ...PLAIN, access: 'either', from, part: command.source } as const
  const found = mentionedFiles(base, command, commands)
  if (found === null) return [{ ...common, path: null, isCertain: true }]
  return found.map(({ isGlob, name }): Touch => ({ ...common, path: name, isGlob, isCertain: false }))
}

const MOUNTS = /^(?:docker|podman|nerdctl)$/
const FROM_ELSEWHERE = /(?:^|[=,])(?:src=|source=)?((?:\/|~|\.\.)[^:,]*)/

/**
 * Everything below a folder of the machine that is mounted into a container. The project's own files are left out,
 * since any program sees them.
 */
function mounted(base: string, { args, source }: SimpleCommand, from: readonly Location[]): Touch[] {
  if (!MOUNTS.test(base)) return []
  return args.flatMap(({ text }, at): Touch[] => {
    const option = /^(?:-v|--volume|--mount)(?:=|$)/.exec(text)?.[0]
    const value = option === undefined ? '' : option.endsWith('=') ? text.slice(option.length) : args[at + 1]?.text
    const path = FROM_ELSEWHERE.exec(value ?? '')?.[1]
    if (path === undefined) return []
    return [{ ...PLAIN, access: 'either', path, from, isCertain: false, isTree: true, part: source }]
  })
}

const PATCHES = /^(?:patch|apply_patch|applypatch)$/
const GIT_PATCHES = /^(?:apply|am)$/
const ONLY_CHECKS =
  /^--(?:check|stat|numstat|summary|dry-run|cached|abort|skip|quit|help|version|show-current-patch(?:=.*)?)$/

/** A patch names the files it changes; one that is not in the command may name any. */
function patched(base: string, { args, redirections, source }: SimpleCommand, from: readonly Location[]): Touch[] {
  if (!GIT_PATCHES.test(gitOrder(base, args)?.subcommand ?? '') && !PATCHES.test(base)) return []
  const isHere = redirections.some(({ body }) => body !== null) || args.some(({ text }) => text.includes('\n'))
  const isNamed = base === 'patch' && args.some(({ text }) => !isOption(text))
  // `--stat --apply` shows the files and changes them.
  const isCheck = args.some(({ text }) => ONLY_CHECKS.test(text)) && !args.some(({ text }) => text === '--apply')
  if (isHere || isNamed || isCheck) return []
  return [{ ...PLAIN, access: 'edit', path: null, from, isCertain: true, part: source }]
}

const SENDS = /^(?:curl|wget|https?|xh|aws|gsutil|gh|glab)$/
const SENDS_FILE = /^(?:-[a-zA-Z]*[TFK]|--(?:upload-file|form|config|post-file|body-file|input|body-file|field))$/

/** A file that is sent elsewhere is as good as shown, and may only be known at run time. */
function sent(base: string, { appended, args, source }: SimpleCommand, from: readonly Location[]): Touch[] {
  if (!SENDS.test(base)) return []
  const isUnknown = args.some(
    (word, at) =>
      !isReadable(word) && (/^(?:@|[^$`]*[=@]@?[<@])/.test(word.text) || SENDS_FILE.test(args[at - 1]?.text ?? '')),
  )
  return appended || isUnknown ? [{ ...PLAIN, access: 'read', path: null, from, isCertain: true, part: source }] : []
}

const LOADS_ENV = /^(?:-r)?dotenvx?(?:-cli)?(?:\/config)?$/

/** Returns the files that programs are known to read by themselves. */
function loaded(base: string, { args, source }: SimpleCommand, from: readonly Location[]): Touch[] {
  const texts = args.map(({ text }) => text)
  const isCompose = base === 'docker-compose' || (base === 'docker' && texts.includes('compose'))
  const isLoader = isLanguage(base) && texts.some((text) => LOADS_ENV.test(text))
  const isShown = isCompose && texts.some((text) => /^(?:config|convert)$/.test(text))
  const names = [
    ...(isShown || LOADS_ENV.test(base) || isLoader ? ['.env'] : []),
    ...(base === 'direnv' ? ['.envrc'] : []),
  ]
  return names.map((path): Touch => ({ ...PLAIN, access: 'read', path, from, isCertain: false, part: source }))
}

/** A script or program that is only known at run time may use any file. */
function unseen(command: SimpleCommand, from: readonly Location[]): Touch[] {
  const { launcher, name, source, unknown } = command
  const isUnread = (launcher !== null && unknown !== null) || (name !== null && !isReadable(name))
  return isUnread ? [{ ...PLAIN, access: 'either', path: null, from, isCertain: true, part: source }] : []
}

/** True for a redirection that opens a connection, which no rule about reading files covers. */
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
  const isTree = reachesBelow(base, command) && (mayTakeFolders(base, command) || !IS_FILE.test(arg.text))
  const common = { ...PLAIN, from, isTree, part: command.source }
  const access = READS.has(base) || LOOKS.has(base) ? 'read' : EDITS.has(base) ? 'edit' : 'either'
  const inside = parts(arg.text).map((path): Touch => ({ ...common, access, path, isCertain: false, isTree: false }))
  const text = isOption(arg.text) ? valueOf(arg.text) : arg.text
  if (text === '') return inside
  const path = text === arg.text ? pathOf(arg, from) : text
  const isOperand = !isOption(arg.text)
  // Under its new name the file can be read.
  if (base === 'mv') inside.push({ ...common, access: 'read', path, isCertain: false, isTree: false })
  if (READS.has(base) || EDITS.has(base)) return [{ ...common, access, path, isCertain: isOperand }, ...inside]
  const value = isOperand ? valueOf(text) : ''
  const whole = value === '' ? [isOperand ? spelled(arg) : path] : [spelled(arg), value]
  return [...whole.map((each): Touch => ({ ...common, access, path: each, isCertain: false })), ...inside]
}

function reachesBelow(base: string, { args }: Pick<SimpleCommand, 'args'>): boolean {
  if (REACHES_BELOW.has(base)) return true
  return COPIES_BELOW.test(
    `${base} ${args
      .slice(0, 2)
      .map(({ text }) => text.slice(0, 20))
      .join(' ')}`,
  )
}

function mayTakeFolders(base: string, { args }: Pick<SimpleCommand, 'args'>): boolean {
  return TAKES_FOLDERS.test(base) || args.some(({ text }) => RECURSIVE.test(text))
}

const COPIES_NO_FOLDER = /^-[fvinpu]+$/

/**
 * Returns the files that a plain copy reads, and those it writes at or below the target; null for any other command.
 */
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
  return /[@:<,]|=.*=/s.test(text) ? text.split(/[=@:;,<]/).filter((part) => part !== '' && !isOption(part)) : []
}

/** Returns the value after `=`, or the one attached to a letter as in `-ofile`. */
function valueOf(text: string): string {
  const equals = text.indexOf('=')
  if (equals !== -1) return text.slice(equals + 1)
  return /^-[A-Za-z][^-]/.test(text) ? text.slice(2) : ''
}

/**
 * Returns a word as written, where nobody knows whether it is a path at all. After `~+` and the like it is a path in
 * some folder.
 */
function spelled({ dynamic, text }: Word): string {
  if (dynamic && /^~[^/]/.test(text)) return text.slice(text.indexOf('/') + 1)
  return !dynamic && text.startsWith('~') ? `./${text}` : text
}

/**
 * Returns the path; null when it is only known at run time, as a relative path without a known folder is. A quoted `~`
 * is a name like any other.
 */
function pathOf(word: Word, from: readonly Location[]): string | null {
  if (!isReadable(word)) return null
  const { text } = word
  if (text.startsWith('/')) return text
  // `~+` is the current folder, and the homes of other users are not known.
  if (word.dynamic && text.startsWith('~')) return /^~(?:\/|$)/.test(text) ? text : null
  if (from.length === 0) return null
  return text.startsWith('~') ? `./${text}` : text
}
