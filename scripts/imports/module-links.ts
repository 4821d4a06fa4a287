import { tokensOf, type Token } from './tokens.ts'

export interface ModuleLinks {
  /** Every module named in an import, a re-export or a dynamic import, including types, in the order of the file. */
  readonly specifiers: readonly string[]
  readonly hasExportStar: boolean
  readonly hasDefaultExport: boolean
}

/** Returns what a TypeScript or JavaScript file imports and how it exports. */
export function moduleLinksOf(source: string): ModuleLinks {
  const tokens = tokensOf(source)
  const specifiers: string[] = []
  let hasExportStar = false
  let hasDefaultExport = false
  for (const [at, token] of tokens.entries()) {
    if (token.kind !== 'word' || isMark(tokens[at - 1], '.')) continue
    if (token.text === 'import') {
      const specifier = importedBy(tokens, at + 1)
      if (specifier !== undefined) specifiers.push(specifier)
    } else if (token.text === 'export') {
      const clause = exportClause(tokens, at + 1)
      if (clause.from !== undefined) specifiers.push(clause.from)
      hasExportStar ||= clause.isStar
      hasDefaultExport ||= clause.isDefault
    }
  }
  return { specifiers, hasExportStar, hasDefaultExport }
}

/** Returns the specifier of the import that goes on at `at`; none for `import.meta` or a computed name. */
function importedBy(tokens: readonly Token[], at: number): string | undefined {
  const first = tokens[at]
  if (first?.kind === 'string') return first.text
  if (isMark(first, '(')) return tokens[at + 1]?.kind === 'string' ? tokens[at + 1]?.text : undefined
  if (first?.kind === 'word' || isMark(first, '{') || isMark(first, '*')) return fromAfter(tokens, at)
  return undefined
}

function exportClause(
  tokens: readonly Token[],
  at: number,
): { from: string | undefined; isStar: boolean; isDefault: boolean } {
  const start = isWord(tokens[at], 'type') && !isWord(tokens[at + 1], 'type') ? at + 1 : at
  if (isMark(tokens[start], '*')) return { from: fromAfter(tokens, start), isStar: true, isDefault: false }
  if (isMark(tokens[start], '{')) {
    const end = tokens.findIndex((token, index) => index > start && isMark(token, '}'))
    const names = tokens.slice(start + 1, end)
    const isDefault = names.some((token, index) => isWord(token, 'default') && isWord(names[index - 1], 'as'))
    return { from: isWord(tokens[end + 1], 'from') ? fromAfter(tokens, end + 1) : undefined, isStar: false, isDefault }
  }
  return { from: undefined, isStar: false, isDefault: isWord(tokens[at], 'default') || isMark(tokens[at], '=') }
}

/** Returns the string after the next `from`, if only names, braces, commas and stars precede it. */
function fromAfter(tokens: readonly Token[], at: number): string | undefined {
  for (let index = at; index < tokens.length; index++) {
    const token = tokens[index]
    const next = tokens[index + 1]
    if (isWord(token, 'from') && next?.kind === 'string') return next.text
    const belongs =
      token?.kind === 'word' || token?.kind === 'string' || (token?.kind === 'mark' && '{},*'.includes(token.text))
    if (!belongs) return undefined
  }
  return undefined
}

function isMark(token: Token | undefined, text: string): boolean {
  return token?.kind === 'mark' && token.text === text
}

function isWord(token: Token | undefined, text: string): boolean {
  return token?.kind === 'word' && token.text === text
}
