import type { SimpleCommand } from '@evener/shell/read'
import { isOption, isReadable } from './argument.ts'
import { programBase } from './program-base.ts'

const WRITES = new Set(['write', 'append', 'read-write'])
const WRITES_ALL = /^(?:tee|sponge|sed|gsed|touch)$/
const WRITES_LAST = /^(?:cp|mv|ln|install|rsync|scp|link)$/
const FETCHES = /^(?:curl|wget)$/
const OUTPUT_VALUE = /^(?:-[a-zA-Z]*[oO]|--output|--output-document)$/

/** What a program runs when it is told nothing. */
const RUNS_BY_NAME: ReadonlyMap<string, RegExp> = new Map([
  ...['make', 'gmake'].map((name) => [name, /^(?:GNU)?makefile$/i] as const),
  ['git', /^(?:\.git|\.gitconfig|(?:pre|post)-[a-z-]+|(?:prepare-)?commit-msg)$/],
  ['just', /^\.?justfile$/i],
  ['rake', /^rakefile$/i],
  ...['npm', 'pnpm', 'yarn', 'bun'].map((name) => [name, /^package\.json$/] as const),
])

/** Files that the commands of a text make themselves, by name without their folder; null stands for any. */
export function madeFiles(commands: readonly SimpleCommand[]): ReadonlySet<string | null> {
  return new Set(commands.flatMap(madeBy))
}

function madeBy({ args, name, redirections }: SimpleCommand): (string | null)[] {
  const base = name === null || !isReadable(name) ? '' : programBase(name.text)
  const targets = redirections.flatMap(({ kind, target }) => (WRITES.has(kind) && target !== null ? [target] : []))
  const operands = args.filter(({ text }) => !isOption(text))
  if (WRITES_ALL.test(base)) targets.push(...operands)
  if (WRITES_LAST.test(base)) targets.push(...operands.slice(-1))
  if (FETCHES.test(base)) {
    // Without a name of its own the file is called as in the address.
    const named = args.filter((_arg, at) => OUTPUT_VALUE.test(args[at - 1]?.text ?? ''))
    targets.push(...named, ...operands)
  }
  if (base === 'dd') targets.push(...args.filter(({ text }) => text.startsWith('of=')))
  return targets
    .filter(({ text }) => !text.startsWith('/dev/'))
    .flatMap((word) => (isReadable(word) ? namesOf(word.text) : [null]))
}

const GIT_RUNS = /(?:^|\/)\.git\/(?:hooks\/|config$)/

/** Hooks and settings of a repository count as `.git`. */
function namesOf(path: string): string[] {
  return GIT_RUNS.test(path) ? [lastPart(path), '.git'] : [lastPart(path)]
}

function lastPart(path: string): string {
  return path.slice(Math.max(path.lastIndexOf('/'), path.lastIndexOf('=')) + 1)
}

/** It runs a file that the same text makes. */
export function runsMadeFile({ appended, args, name, runs }: SimpleCommand, made: ReadonlySet<string | null>): boolean {
  if (name === null || made.size === 0 || !isReadable(name)) return false
  const isMade = (text: string): boolean =>
    made.has(null) || made.has(lastPart(text)) || (appended && text.includes('{}'))
  if (runs === 'file' && args.some((word) => !isOption(word.text) && isMade(word.text))) return true
  if (name.text.includes('/') && !/^\/(?:usr\/)?s?bin\//.test(name.text) && isMade(name.text)) return true
  const found = RUNS_BY_NAME.get(programBase(name.text))
  return found !== undefined && [...made].some((file) => file !== null && found.test(file))
}
