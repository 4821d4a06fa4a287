const TEXT_LITERAL = /(["'`])((?:\\.|(?!\1)[^\\\n]){0,300})\1/g
/**
 * A quote may also occur in a comment or regular expression, so nobody can say where strings begin: everything between
 * two quotes counts as one.
 */
const QUOTE = /["'`\n]/
const LONGEST_TEXT = 300
const LONGEST_JOINED = 200
const LONGEST_JOINT = 30

/**
 * What joins two strings into one: `'.e' + 'nv'`, `"." "env"`, `['.e', 'nv'].join('')`; and into a path: `join('a',
 * 'b')`.
 */
const JOINT = /^\s{0,9}(?:\+|\.{1,2}|~|,|\|\||&|<>)?\s{0,9}[bruf]{0,2}$/
const APART = /^\s{0,9}\)?\s{0,9}[,/]\s{0,9}$/
const PUT_IN = /\$?\{\s{0,9}["']([^"'`{}\n]{0,99})["']\s{0,9}\}/g
const ESCAPED = /\\(?:x([\da-fA-F]{2})|u([\da-fA-F]{4})|u\{([\da-fA-F]{1,6})\}|([0-7]{2,3})|([^\da-zA-Z\s]))/g

/** Returns the code as written, without its escapes, and with strings inserted into strings. */
export function codeVariants(code: string): ReadonlySet<string> {
  const plain = code.replace(ESCAPED, unescaped)
  return new Set([code, plain, plain.replace(PUT_IN, '$1')])
}

/** Returns the strings in code, and what several of them make together. */
export function textsIn(code: string): string[] {
  const found = code.split(QUOTE).filter((text) => text !== '' && text.length <= LONGEST_TEXT)
  let end = -1
  let joined = ''
  let path = ''
  for (const { 0: whole, 2: text = '', index } of code.matchAll(TEXT_LITERAL)) {
    const between = end === -1 || index - end > LONGEST_JOINT ? null : code.slice(end, index)
    joined = (between !== null && JOINT.test(between) ? joined + text : text).slice(0, LONGEST_JOINED)
    path = (between !== null && APART.test(between) ? `${path}/${text}` : text).slice(0, LONGEST_JOINED)
    found.push(text, joined, path)
    end = index + whole.length
  }
  return found
}

function unescaped(_whole: string, ...found: readonly (string | undefined)[]): string {
  const [hex, four, braces, octal, char] = found
  if (char !== undefined) return char
  const code = octal === undefined ? Number.parseInt(hex ?? four ?? braces ?? '0', 16) : Number.parseInt(octal, 8)
  return code > 0x10ffff ? '' : String.fromCodePoint(code)
}
