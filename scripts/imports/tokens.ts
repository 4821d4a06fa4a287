export interface Token {
  readonly kind: 'word' | 'string' | 'template' | 'number' | 'regexp' | 'mark'
  /** The text as written; for a string the text between its quotes. */
  readonly text: string
}

/** After these words a slash starts a regular expression; after any other it divides. */
const BEFORE_EXPRESSION = new Set(
  'return typeof instanceof in of new delete void throw case do else yield await default extends'.split(' '),
)
const WORD = /[\p{ID_Start}$_#][\p{ID_Continue}$\u200c\u200d]*/uy
const NUMBER = /\d[\w.]*/y
const SPACE = /\s+/y
const LINE_COMMENT = /\/\/[^\n]*/y
const BLOCK_COMMENT = /\/\*[\s\S]*?\*\//y
const STRING = /'((?:[^'\\\n]|\\[\s\S])*)'|"((?:[^"\\\n]|\\[\s\S])*)"/y
const REGEXP = /\/(?:[^/\\[\n]|\\.|\[(?:[^\]\\\n]|\\.)*\])+\/[a-z]*/y
const TEMPLATE_TEXT = /(?:[^`\\$]|\\[\s\S]|\$(?!\{))*/y

/**
 * Returns the tokens of a TypeScript file without comments: just enough to find imports and exports, and to ignore
 * those inside comments, strings and templates.
 */
export function tokensOf(source: string): Token[] {
  const tokens: Token[] = []
  /** How many braces are open inside each `${`, innermost last. */
  const substitutions: number[] = []
  let at = source.startsWith('#!') ? source.indexOf('\n') : 0

  const match = (pattern: RegExp): RegExpExecArray | null => {
    pattern.lastIndex = at
    const found = pattern.exec(source)
    if (found !== null) at += found[0].length
    return found
  }
  /** Reads the rest of a template up to its end or the next `${`. */
  const template = (): void => {
    tokens.push({ kind: 'template', text: match(TEMPLATE_TEXT)?.[0] ?? '' })
    if (source.startsWith('${', at)) substitutions.push(0)
    at += source.startsWith('${', at) ? 2 : 1
  }

  while (at < source.length) {
    if (match(SPACE) ?? match(LINE_COMMENT) ?? match(BLOCK_COMMENT)) continue
    const string = match(STRING)
    if (string !== null) {
      tokens.push({ kind: 'string', text: string[1] ?? string[2] ?? '' })
      continue
    }
    const word = match(WORD)
    if (word !== null) {
      tokens.push({ kind: 'word', text: word[0] })
      continue
    }
    const number = match(NUMBER)
    if (number !== null) {
      tokens.push({ kind: 'number', text: number[0] })
      continue
    }
    const regexp = startsExpression(tokens.at(-1)) ? match(REGEXP) : null
    if (regexp !== null) {
      tokens.push({ kind: 'regexp', text: regexp[0] })
      continue
    }
    const mark = source.charAt(at)
    at++
    const open = substitutions.at(-1)
    if (mark === '`') template()
    else if (mark === '}' && open === 0) {
      substitutions.pop()
      template()
    } else {
      if (open !== undefined && mark === '{') substitutions[substitutions.length - 1] = open + 1
      if (open !== undefined && mark === '}') substitutions[substitutions.length - 1] = open - 1
      tokens.push({ kind: 'mark', text: mark })
    }
  }
  return tokens
}

function startsExpression(before: Token | undefined): boolean {
  if (before === undefined) return true
  if (before.kind === 'word') return BEFORE_EXPRESSION.has(before.text)
  return before.kind === 'mark' && !')]}'.includes(before.text)
}
