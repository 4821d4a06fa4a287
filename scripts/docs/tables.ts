/** Tables of options, made from the types. */
import { globSync } from 'node:fs'
import { join } from 'node:path'
import { declarationIn, type Member } from './declarations.ts'

/**
 * `<!-- options: packages/core/src/harness/harness-config.ts HarnessConfig -->` up to `<!-- end of options -->`. With
 * `HarnessConfig(modes, agent)` only these, in this order.
 */
const PLACE = /(<!-- options: (\S+) (\w+)(?:\(([\w, ]+)\))? -->\n)(.*?)(<!-- end of options -->)/gs

/** Returns a page with all its tables of options as they should be. */
export function withTables(root: string, page: string): string {
  return page.replaceAll(
    PLACE,
    (_, head: string, file: string, name: string, only: string | undefined, _old: string, end: string) => {
      return `${head}\n${optionsTable(root, file, name, only?.split(/, */))}\n\n${end}`
    },
  )
}

function optionsTable(root: string, file: string, name: string, only: readonly string[] | undefined): string {
  const all = membersOf(root, file, name)
  const members = (only ?? all.map((member) => member.name)).map((wanted) => {
    const member = all.find((each) => each.name === wanted)
    if (member === undefined) throw new Error(`${name} in ${file} has no ${wanted}.`)
    return member
  })
  const rows = members.map(({ comment, isOptional, name: option, type }) => {
    const [words, byDefault] = splitDefault(comment)
    return [`\`${option}\``, `\`${oneLine(type)}\``, words, byDefault ?? (isOptional ? '' : 'required')]
  })
  return table([['option', 'type', 'what it does', 'default'], ...rows])
}

function membersOf(root: string, file: string, name: string): readonly Member[] {
  const declaration = declarationIn(join(root, file), name)
  if (declaration === undefined) throw new Error(`${file} has no ${name}.`)
  const inherited = declaration.bases.flatMap((base) => {
    const place = placeOf(root, file, base)
    return place === undefined ? [] : membersOf(root, place, base)
  })
  const own = new Set(declaration.members.map((member) => member.name))
  return [...declaration.members, ...inherited.filter((member) => !own.has(member.name))]
}

/** Looks for an interface in all modules of the same package, and returns the path of the module. */
function placeOf(root: string, file: string, name: string): string | undefined {
  const source = /^packages\/[\w-]+\/src\//.exec(file)?.[0] ?? ''
  for (const other of globSync(`${source}**/*.ts`, { cwd: root }).sort()) {
    if (/\.(test|bench|real|fixture)\.ts$/.test(other)) continue
    if (declarationIn(join(root, other), name) !== undefined) return other
  }
  return undefined
}

function splitDefault(comment: string): readonly [string, string | undefined] {
  const [, before = '', byDefault = '', after = ''] = /^(.*?)\s*Default: (.*?)(?:\.(?= |$)(.*))?$/.exec(comment) ?? []
  return byDefault === '' ? [cell(comment), undefined] : [cell(`${before}${after}`), cell(byDefault)]
}

function oneLine(type: string): string {
  const line = type.replaceAll(/\/\*.*?\*\//gs, '').replaceAll(/\s+/g, ' ')
  return cell(line.length > 80 ? `${line.slice(0, 77)}…` : line)
}

function cell(text: string): string {
  return text.replaceAll('|', '\\|').trim()
}

export function table([head = [], ...rows]: readonly (readonly string[])[]): string {
  const widths = head.map((_, index) => Math.max(...[head, ...rows].map((row) => row[index]?.length ?? 0)))
  const line = (cells: readonly string[]): string =>
    `| ${widths.map((width, index) => (cells[index] ?? '').padEnd(width)).join(' | ')} |`
  return [line(head), `| ${widths.map((width) => '-'.repeat(width)).join(' | ')} |`, ...rows.map(line)].join('\n')
}
