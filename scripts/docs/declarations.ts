/** Reads the exported declarations of a module, with their comments, from its source. */
import { existsSync, readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { parseSync, type Comment } from 'oxc-parser'
import { toSource, type Manifest } from '../pack-exports.ts'

export interface Member {
  readonly name: string
  readonly type: string
  readonly isOptional: boolean
  readonly comment: string
}

export interface Declaration {
  readonly name: string
  readonly kind: 'class' | 'function' | 'interface' | 'type' | 'constant'
  /** The source without bodies. */
  readonly signature: string
  readonly comment: string
  readonly members: readonly Member[]
  /** Names of the interfaces that it extends. */
  readonly bases: readonly string[]
}

interface Node {
  readonly type: string
  readonly start: number
  readonly end: number
}

/** The parser's types differ by kind of node, and this file looks only at fields that many kinds have. */
function field(node: object, name: string): unknown {
  return (Reflect.get(node, name) as unknown) ?? undefined
}

interface Source {
  readonly text: string
  readonly body: readonly Node[]
  readonly comments: readonly Comment[]
}

const KINDS: Readonly<Record<string, Declaration['kind']>> = {
  ClassDeclaration: 'class',
  FunctionDeclaration: 'function',
  TSDeclareFunction: 'function',
  TSInterfaceDeclaration: 'interface',
  TSTypeAliasDeclaration: 'type',
  VariableDeclaration: 'constant',
}

const sources = new Map<string, Source>()

function read(file: string): Source {
  const known = sources.get(file)
  if (known !== undefined) return known
  const text = readFileSync(file, 'utf8')
  const { program, comments } = parseSync(file, text)
  const source: Source = { text, body: program.body, comments }
  sources.set(file, source)
  return source
}

interface Specifier {
  readonly local: { readonly name: string }
  readonly exported?: { readonly name: string }
}

/** Returns what a module exports, from wherever it is declared. Overloads are one declaration. */
export function exportsOf(file: string): readonly Declaration[] {
  const found = read(file).body.flatMap((statement) => {
    if (statement.type !== 'ExportNamedDeclaration') return []
    const specifiers = (field(statement, 'specifiers') as readonly Specifier[] | undefined) ?? []
    if (specifiers.length === 0) return declared(file, statement)
    const from = (field(statement, 'source') as { value: string } | undefined)?.value
    return specifiers.flatMap(({ exported, local }) => {
      const all = from === undefined ? namedHere(file, local.name) : exportedBy(file, from, local.name)
      return all.map((declaration) => ({ ...declaration, name: exported?.name ?? local.name }))
    })
  })
  return [...Map.groupBy(found, ({ name }) => name).values()].flatMap(merged)
}

/** Overloads come before the function that implements them, which nobody can call by its own signature. */
function merged(all: readonly Declaration[]): readonly Declaration[] {
  const [first] = all
  if (first === undefined || all.length === 1) return all
  const signatures = all.slice(0, -1).map(({ signature }) => signature)
  return [
    { ...first, signature: signatures.join('\n'), comment: all.map(({ comment }) => comment).find(Boolean) ?? '' },
  ]
}

/** Returns a name that a module declares, or imports to export it. */
function namedHere(file: string, name: string): readonly Declaration[] {
  const { body } = read(file)
  const own = body.flatMap((statement) => declared(file, statement)).filter((each) => each.name === name)
  if (own.length > 0) return own
  const imports = body.filter(({ type }) => type === 'ImportDeclaration')
  return imports.flatMap((statement) => {
    const specifiers =
      (field(statement, 'specifiers') as readonly (Specifier & { imported?: { name: string } })[]) ?? []
    const { value: from } = field(statement, 'source') as { value: string }
    const found = specifiers.find(({ local }) => local.name === name)
    return found === undefined ? [] : exportedBy(file, from, found.imported?.name ?? name)
  })
}

/** Returns a name of another module. Of a package of others, only where it is from. */
function exportedBy(file: string, from: string, name: string): readonly Declaration[] {
  const target = from.startsWith('.') ? join(dirname(file), from) : ownModule(from)
  if (target !== undefined && existsSync(target)) return exportsOf(target).filter((each) => each.name === name)
  const signature = `import { ${name} } from '${from}'`
  return [{ name, kind: 'type', signature, comment: `From \`${from}\`.`, members: [], bases: [] }]
}

/** Returns the file behind a door of one of our packages. */
function ownModule(specifier: string): string | undefined {
  const [, name, folder = '', door = ''] = /^(@inspan\/([\w-]+))(\/.+)?$/.exec(specifier) ?? []
  if (name === undefined) return undefined
  const place = join(import.meta.dirname, '../../packages', folder)
  // While a package is packed, its manifest names what was built.
  const { exports } = toSource(JSON.parse(readFileSync(join(place, 'package.json'), 'utf8')) as Manifest)
  const found = Object.entries(exports ?? {}).find(([entry]) => entry === `.${door}`)?.[1]
  return typeof found === 'string' ? join(place, found) : undefined
}

/** Returns a declaration of a file by its name, whether or not it is exported. */
export function declarationIn(file: string, name: string): Declaration | undefined {
  return read(file)
    .body.flatMap((statement) => declared(file, statement))
    .find((declaration) => declaration.name === name)
}

function declared(file: string, statement: Node): readonly Declaration[] {
  const source = read(file)
  const node = (field(statement, 'declaration') as Node | undefined) ?? statement
  const kind = KINDS[node.type]
  if (kind === undefined) return []
  const named = kind === 'constant' ? (field(node, 'declarations') as readonly Node[] | undefined)?.[0] : node
  const name = named === undefined ? undefined : (field(named, 'id') as { name?: string } | undefined)?.name
  if (name === undefined) return []
  const body = field(node, 'body') as Node | undefined
  const isListed = kind === 'interface' || kind === 'class'
  const end = isListed || kind === 'function' ? (body?.start ?? node.end) : node.end
  const parts = isListed && body !== undefined ? ((field(body, 'body') as readonly Node[] | undefined) ?? []) : []
  const bases = kind === 'interface' ? ((field(node, 'extends') as readonly Node[] | undefined) ?? []) : []
  return [
    {
      name,
      kind,
      signature: source.text.slice(node.start, end).trim(),
      comment: commentBefore(source, statement.start),
      members: parts.flatMap((part) => memberOf(source, part)),
      bases: bases.map((base) => (field(base, 'expression') as { name?: string } | undefined)?.name ?? ''),
    },
  ]
}

function memberOf(source: Source, part: Node): readonly Member[] {
  const key = field(part, 'key') as { name?: string; type: string } | undefined
  const isHidden =
    (field(part, 'accessibility') as string | undefined) === 'private' || key?.type === 'PrivateIdentifier'
  if (key?.name === undefined || isHidden || key.name === 'constructor') return []
  const body = (field(part, 'value') as { body?: Node | null } | undefined)?.body ?? undefined
  const text = source.text.slice(part.start, body?.start ?? part.end)
  const type = text.replace(/^(?:(?:readonly|static|override|async|get|set) )*[\w$]+\??:?/, '').trim()
  const comment = commentBefore(source, part.start)
  return [
    {
      name: key.name,
      type: type.replace(/[;{]$/, '').trim(),
      isOptional: (field(part, 'optional') as boolean | undefined) === true,
      comment,
    },
  ]
}

/** Returns the comment that ends right before a place, as one paragraph. */
function commentBefore({ comments, text }: Source, start: number): string {
  const found = comments.findLast(
    (comment) => comment.end <= start && comment.value.startsWith('*') && text.slice(comment.end, start).trim() === '',
  )
  if (found === undefined) return ''
  return found.value
    .split('\n')
    .map((line) => line.replace(/^\s*\*+ ?/, '').trim())
    .join(' ')
    .trim()
}
