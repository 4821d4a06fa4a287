/** The reference of a package: everything it exports, by the door it is imported through. */
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { toSource, type Manifest } from '../pack-exports.ts'
import { exportsOf, type Declaration } from './declarations.ts'

export interface ReferencePage {
  /** The folder of the package. */
  readonly folder: string
  readonly name: string
  readonly text: string
}

export function referencePages(root: string): readonly ReferencePage[] {
  return readdirSync(join(root, 'packages')).flatMap((folder) => {
    const text = readFileSync(join(root, 'packages', folder, 'package.json'), 'utf8')
    // While a package is packed, and after a pack that was interrupted, its manifest names what was built.
    const manifest = toSource(JSON.parse(text) as Manifest)
    const doors = Object.entries(manifest.exports ?? {}).flatMap(([door, file]) =>
      typeof file === 'string' && file.endsWith('.ts') ? [{ door, file }] : [],
    )
    const sections = doors.map(({ door, file }) => {
      const found = exportsOf(join(root, 'packages', folder, file))
      return [`## \`${join(manifest.name, door)}\``, ...found.map(describe)].join('\n\n')
    })
    const page = [`# ${manifest.name}`, `${String(manifest['description'])}.`, ...sections].join('\n\n')
    return doors.length === 0 ? [] : [{ folder, name: manifest.name, text: `${page}\n` }]
  })
}

function describe({ comment, kind, members, name, signature }: Declaration): string {
  const lines = members.map((member) => {
    const mark = member.isOptional ? '?' : ''
    const words = member.comment === '' ? '' : ` — ${escaped(member.comment)}`
    return `- \`${member.name}${mark}${separator(member.type)}${member.type.replaceAll(/\s+/g, ' ')}\`${words}`
  })
  return [`### ${name}`, `_${kind}_`, escaped(comment), `\`\`\`ts\n${signature}\n\`\`\``, lines.join('\n')]
    .filter((part) => part !== '' && part !== '__')
    .join('\n\n')
}

function separator(type: string): string {
  return type.startsWith('(') || type.startsWith('<') ? '' : ': '
}

/** Types in running text would be taken for HTML. */
function escaped(text: string): string {
  return text
    .split(/(`[^`]*`)/)
    .map((part) => (part.startsWith('`') ? part : part.replaceAll('<', '&lt;').replaceAll('{{', '{ {')))
    .join('')
}
