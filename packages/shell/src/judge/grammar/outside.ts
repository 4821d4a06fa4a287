import type { SimpleCommand, Word } from '../../read/reading.ts'
import { readPlainScript, type PlainCommand, type PlainWord } from './grammar.ts'

const SHELL = /^(?:sh|bash|dash)$/

/**
 * Returns why a text is outside the grammar that every shell reads alike; null when it is inside, and the parser, which
 * knows all of bash, has found the very same words in it.
 */
export function findOutside(text: string, commands: readonly SimpleCommand[]): string | null {
  const plain = readPlainScript(text)
  if (!plain.ok) return plain.reason
  const own = commands.filter(({ origin }) => origin === 'text' || origin === 'substitution')
  if (!agree(plain.commands, own)) return 'shells may read it differently'
  for (const { args, launcher, name, unknown } of commands) {
    // One whose script is not known is no reason to doubt the rest: no rule covers it.
    if (launcher !== 'shell' || name === null || unknown !== null) continue
    const [option, script] = args
    const isPlain = SHELL.test(name.text) && args.length === 2 && /^-l?c$/.test(option?.text ?? '')
    if (!isPlain || script === undefined || script.dynamic) return `\`${name.text}\` may read its script differently`
    const inner = readPlainScript(script.text)
    if (!inner.ok) return inner.reason
  }
  return null
}

function agree(plain: readonly PlainCommand[], read: readonly SimpleCommand[]): boolean {
  const left = new Map<string, number>()
  for (const { args, assignments, name } of read) {
    if (name === null && assignments.length === 0) continue
    // The values that `export` sets are among its arguments, too.
    const assigned = name?.text === 'export' ? [] : assignments.map((each) => each.name)
    const key = keyOf(assigned, name === null ? [] : [name, ...args].map(seen))
    left.set(key, (left.get(key) ?? 0) + 1)
  }
  for (const { assigned, words } of plain) {
    const key = keyOf(assigned, words)
    const count = left.get(key) ?? 0
    if (count === 0) return false
    left.set(key, count - 1)
  }
  return [...left.values()].every((count) => count === 0)
}

function seen({ dynamic, text }: Word): PlainWord {
  return { text, expands: dynamic }
}

function keyOf(assigned: readonly string[], words: readonly PlainWord[]): string {
  return JSON.stringify([assigned, words.map(({ expands, text }) => (expands ? 0 : text))])
}
