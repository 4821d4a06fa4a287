import type { Assignment as AssignmentNode, Word as WordNode, WordPart } from 'unbash'

import type { Expansion, Word } from './reading.ts'
import { Refusal } from './refusal.ts'

const NONE: readonly Expansion[] = []
const TILDE: readonly Expansion[] = ['tilde']

export function literalWord(text: string, source: string = text): Word {
  return { text, source, quoted: source !== text, expansions: NONE, dynamic: false, glob: false, splits: false }
}

const ACTIVE = /[`"'$ \t\n<>;|&()]/
const UNREAD = /[`"' \t\n<>;|&()]|\$[({[\w@*#?!$-]/

/** The parser treats some odd words (`a[; $(x)]y`) as plain text. Bash still expands them, so they are refused. */
function checkPlain(source: string): void {
  if (ACTIVE.test(source) && UNREAD.test(source.replace(/\\[\s\S]/g, '')))
    throw new Refusal('a word that cannot be read')
}

export function readWord(node: WordNode): Word {
  const source = node.text
  const parts = node.parts
  const text = node.value
  if (parts === undefined) {
    checkPlain(source)
    if (!source.startsWith('~')) return literalWord(text, source)
    return { text, source, quoted: source !== text, expansions: TILDE, dynamic: true, glob: false, splits: false }
  }
  const found = new Set<Expansion>()
  if (source.startsWith('~')) found.add('tilde')
  const splits = collect(parts, false, found)
  if (found.size === 0) return literalWord(text, source)
  return {
    text,
    source,
    quoted: source !== text,
    expansions: [...found],
    dynamic: true,
    glob: found.has('glob'),
    splits,
  }
}

/** Adds the expansions of the parts. True when the result need not be one word. */
function collect(parts: readonly WordPart[], quoted: boolean, found: Set<Expansion>): boolean {
  let splits = false
  for (const part of parts) {
    switch (part.type) {
      case 'Literal':
        if (!quoted) checkPlain(part.text)
        break
      case 'SingleQuoted':
        break
      case 'AnsiCQuoted':
        // Bash keeps an escaped newline here; the parser drops it.
        if (part.text.includes('\\\n')) throw new Refusal('a word that cannot be read')
        break
      case 'DoubleQuoted':
        if (collect(part.parts, true, found)) splits = true
        break
      case 'LocaleString':
        found.add('locale')
        if (collect(part.parts, true, found)) splits = true
        break
      case 'Glob':
        found.add('glob')
        splits = true
        if (part.parts !== undefined) collect(part.parts, quoted, found)
        break
      case 'ExtendedGlob':
        found.add('glob')
        splits = true
        if (part.parts !== undefined) collect(part.parts, true, found)
        break
      case 'BraceExpansion':
        found.add('brace')
        splits = true
        if (part.parts !== undefined) collect(part.parts, true, found)
        break
      case 'SimpleExpansion':
        found.add('parameter')
        if (!quoted || part.text === '$@') splits = true
        break
      case 'ParameterExpansion':
        found.add('parameter')
        if (!quoted || part.text.includes('@')) splits = true
        break
      case 'CommandExpansion':
        found.add('command')
        if (!quoted) splits = true
        break
      case 'ArithmeticExpansion':
        found.add('arithmetic')
        if (!quoted) splits = true
        break
      case 'ProcessSubstitution':
        found.add('process')
        break
    }
  }
  return splits
}

/** An assignment among the arguments (`export A=1`) is one word for the program. */
export function assignmentWord(node: AssignmentNode): Word {
  const value = assignedValue(node)
  const operator = node.append === true ? '+=' : '='
  return { ...value, text: `${node.name}${operator}${value.text}`, source: node.text, splits: false }
}

export function assignedValue(node: AssignmentNode): Word {
  if (node.value.type === 'ArrayValue') {
    const words = node.value.elements.map(readWord)
    const expansions = [...new Set(words.flatMap((word) => word.expansions))]
    const text = words.map((word) => word.text).join(' ')
    const source = words.map((word) => word.source).join(' ')
    return {
      text,
      source,
      quoted: source !== text,
      expansions,
      dynamic: expansions.length > 0,
      glob: expansions.includes('glob'),
      splits: false,
    }
  }
  const value = readWord(node.value)
  return value.splits ? { ...value, splits: false } : value
}
