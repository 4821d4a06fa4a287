export interface JsonField {
  readonly name: string
  /** Where the name begins. */
  readonly offset: number
  readonly value: unknown
  readonly valueOffset: number
}

export type JsonFields =
  | { readonly fields: readonly JsonField[] }
  | { readonly problem: string; readonly offset: number }

/** Reads a JSON object and where each of its fields is, so that a message can point at it. */
export function jsonFields(text: string): JsonFields {
  let whole: unknown
  try {
    whole = JSON.parse(text)
  } catch (error) {
    return syntaxProblem(text, error)
  }
  if (typeof whole !== 'object' || whole === null || Array.isArray(whole)) {
    return { problem: 'the file has to hold an object: { … }', offset: text.search(/\S/) }
  }
  return { fields: topFields(text, whole as Readonly<Record<string, unknown>>) }
}

/** The text is valid JSON here, so strings and brackets are enough to find the names. */
function topFields(text: string, whole: Readonly<Record<string, unknown>>): readonly JsonField[] {
  const fields: JsonField[] = []
  let depth = 0
  for (const { 0: token, index } of text.matchAll(/"(?:[^"\\]|\\.)*"|[{}[\]]/gs)) {
    if (token === '{' || token === '[') depth++
    else if (token === '}' || token === ']') depth--
    else if (depth === 1) {
      const colon = /^\s*:\s*/.exec(text.slice(index + token.length))?.[0]
      if (colon === undefined) continue
      const name = JSON.parse(token) as string
      fields.push({ name, offset: index, value: whole[name], valueOffset: index + token.length + colon.length })
    }
  }
  return fields
}

function syntaxProblem(text: string, error: unknown): JsonFields {
  const message = error instanceof Error ? error.message : String(error)
  const at = /position (\d+)/.exec(message)?.[1]
  const token = /Unexpected token '(.)'/s.exec(message)?.[1]
  const guessed = token === undefined ? text.trimEnd().length : firstOutside(text, token)
  const offset = at === undefined ? guessed : Number(at)
  return { problem: `this is not JSON: ${message.split(/ in JSON at|, "/)[0] ?? message}`, offset }
}

/** Some messages of Node name the character without its position. */
function firstOutside(text: string, token: string): number {
  for (const { 0: found, index } of text.matchAll(/"(?:[^"\\\n]|\\.)*"|./gs)) if (found === token) return index
  return text.length
}

export function positionOf(text: string, offset: number): { readonly line: number; readonly column: number } {
  const before = text.slice(0, offset).split('\n')
  return { line: before.length, column: (before.at(-1)?.length ?? 0) + 1 }
}
