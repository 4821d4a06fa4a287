import { InspanError } from '@inspan/protocol'
import { loadFailure } from '../load-failure.ts'

const MAX_FRONT_MATTER = 16 * 1024

export interface FrontMatter {
  readonly fields: ReadonlyMap<string, unknown>
  readonly body: string
}

/** Takes the block between `---` lines off the beginning of a text. `undefined` if there is none. */
export function splitFrontMatter(text: string): { readonly head: string; readonly body: string } | undefined {
  const found = /^\uFEFF?---[ \t]*\r?\n([\s\S]*?)(?:^|\n)---[ \t]*(?:\r?\n|$)/.exec(text)
  if (found === null) return undefined
  return { head: found[1] ?? '', body: text.slice(found[0].length) }
}

/** Reads the front matter as plain data: no tags, no aliases, no keys given twice. */
export async function readFrontMatter(text: string, path: string): Promise<FrontMatter> {
  const split = splitFrontMatter(text)
  if (split === undefined) throw wrong(path, 'does not begin with front matter between two lines of ---')
  if (split.head.length > MAX_FRONT_MATTER) throw wrong(path, `has front matter above ${MAX_FRONT_MATTER} characters`)
  const { isAlias, parseDocument, visit } = await import('yaml').catch((error: unknown) => {
    throw loadFailure('yaml', error)
  })
  const document = parseDocument(split.head, { schema: 'core', version: '1.2', merge: false, uniqueKeys: true })
  const [problem] = [...document.errors, ...document.warnings]
  if (problem !== undefined) throw wrong(path, `has front matter that is not plain YAML: ${firstLine(problem.message)}`)
  let hasTricks = false
  visit(document, {
    Node: (_key, node) => {
      if (isAlias(node) || node.anchor !== undefined || node.tag?.startsWith('!') === true) hasTricks = true
    },
  })
  if (hasTricks) throw wrong(path, 'has front matter with anchors, aliases or tags')
  const value: unknown = document.toJS({ mapAsMap: true, maxAliasCount: 0 })
  if (!(value instanceof Map)) throw wrong(path, 'has front matter that is not a list of fields')
  return { fields: value as Map<string, unknown>, body: split.body }
}

function firstLine(text: string): string {
  return text.split('\n', 1)[0] ?? ''
}

function wrong(path: string, what: string): InspanError {
  return new InspanError('invalid-input', `${path} ${what}.`)
}
