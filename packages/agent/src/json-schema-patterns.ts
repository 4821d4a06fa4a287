/** A class such as `\w`, a quantifier such as `{2,3}`, an escape, or one character. */
const TOKENS = /\\[dDsSwW]|\{\d+(?:,\d*)?\}|\\[^]|[^]/gu
const CLASS_ESCAPE = /^\\[dDsSwW]$/
const NEEDLESS_ESCAPE = /^\\([^\w^$\\.*+?()[\]{}|/-]|_)$/u

/**
 * Returns the pattern in a form that is valid in Unicode mode, the only mode JSON Schema knows; `undefined` if there is
 * none. Many schemas are written for the older mode, which also takes `[\w-.]` and `\@`.
 */
export function unicodePattern(pattern: string): string | undefined {
  if (isValid(pattern)) return pattern
  const rewritten = rewrite(pattern)
  return isValid(pattern, '') && isValid(rewritten) ? rewritten : undefined
}

function rewrite(pattern: string): string {
  const tokens = pattern.match(TOKENS) ?? []
  let isInClass = false
  return tokens
    .map((token, index) => {
      if (NEEDLESS_ESCAPE.test(token)) return token.slice(1)
      if (!isInClass) {
        isInClass = token === '['
        if (token === '\\-') return '-'
        return token === '{' || token === '}' || token === ']' ? `\\${token}` : token
      }
      isInClass = token !== ']'
      // A dash next to a class is a plain dash, not a range.
      const isBesideClass = [tokens[index - 1], tokens[index + 1]].some((each) => CLASS_ESCAPE.test(each ?? ''))
      return token === '-' && isBesideClass ? '\\-' : token
    })
    .join('')
}

function isValid(pattern: string, flags = 'u'): boolean {
  try {
    return new RegExp(pattern, flags) instanceof RegExp
  } catch {
    return false
  }
}
