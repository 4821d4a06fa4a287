import { readdir, realpath, stat } from 'node:fs/promises'
import { basename, join, relative, resolve, sep } from 'node:path'
import { InspanError } from '@inspan/protocol'
import { isWithin, readWithin } from '../safe-file.ts'
import { readFrontMatter } from './front-matter.ts'

const MAX_SKILL_BYTES = 256 * 1024
const MAX_BUNDLED_BYTES = 1024 * 1024
const MAX_BUNDLED_FILES = 200
const MAX_NAME = 64
const MAX_DESCRIPTION = 1_024

/** A skill as it is disclosed: its text is read when it is wanted. */
export interface Skill {
  readonly name: string
  readonly description: string
  /** The real path of its SKILL.md. */
  readonly path: string
  /** The real path of its folder. */
  readonly folder: string
}

export interface SkillText {
  readonly path: string
  readonly text: string
}

/** Finds the skills of an entry: a skill folder, or a folder of skill folders. What is refused is reported by name. */
export async function findSkills(entry: string, root: string, report: (problem: string) => void): Promise<Skill[]> {
  const given = resolve(root, entry)
  const folder = await realpath(given).catch((error: unknown) => {
    throw new InspanError('not-found', `There is no folder ${given} for skills.`, { cause: error })
  })
  if (!(await stat(folder)).isDirectory()) throw new InspanError('invalid-input', `${given} is not a folder of skills.`)
  if (await exists(join(folder, 'SKILL.md'))) return [await loadSkill(folder, folder)]
  const found: Skill[] = []
  const names = (await readdir(folder)).sort()
  for (const name of names) {
    const child = join(folder, name)
    if (!(await exists(join(child, 'SKILL.md')))) continue
    try {
      found.push(await loadSkill(child, folder))
    } catch (error) {
      report(`A skill is not used: ${error instanceof Error ? error.message : String(error)}`)
    }
  }
  return found
}

/** Reads the front matter of a skill and checks it. */
async function loadSkill(folder: string, within: string): Promise<Skill> {
  const real = await realpath(folder)
  if (!isWithin(within, real)) throw new InspanError('invalid-input', `${folder} leads out of ${within}.`)
  const { path, text } = await readWithin(real, join(real, 'SKILL.md'), MAX_SKILL_BYTES)
  const { fields } = await readFrontMatter(text, path)
  const name = fields.get('name')
  const description = fields.get('description')
  if (typeof name !== 'string' || name.length > MAX_NAME || !/^[a-z0-9]+(-[a-z0-9]+)*$/.test(name)) {
    throw wrong(path, `needs a \`name\` of at most ${MAX_NAME} lower-case letters, digits and single hyphens`)
  }
  if (name !== basename(folder)) throw wrong(path, `is named "${name}", but its folder is "${basename(folder)}"`)
  if (typeof description !== 'string' || description.trim() === '' || description.length > MAX_DESCRIPTION) {
    throw wrong(path, `needs a \`description\` of 1 to ${MAX_DESCRIPTION} characters`)
  }
  const compatibility = fields.get('compatibility')
  if (compatibility !== undefined && (typeof compatibility !== 'string' || compatibility.length > 500)) {
    throw wrong(path, 'has a `compatibility` that is not a text of at most 500 characters')
  }
  return { name, description: description.replace(/\s+/g, ' ').trim(), path, folder: real }
}

/** Returns the instructions of a skill, as the file says now. */
export async function skillBody(skill: Skill): Promise<SkillText> {
  const { path, text } = await readWithin(skill.folder, skill.path, MAX_SKILL_BYTES)
  const { body } = await readFrontMatter(text, path)
  return { path, text: body.trim() }
}

/** Returns a file that comes with a skill. */
export async function bundledFile(skill: Skill, file: string): Promise<SkillText> {
  return readWithin(skill.folder, resolve(skill.folder, file), MAX_BUNDLED_BYTES)
}

/** Returns the files that come with a skill, without following links. */
export async function bundledFiles({ folder, path }: Skill): Promise<string[]> {
  const files: string[] = []
  const waiting = [folder]
  for (let current = waiting.shift(); current !== undefined; current = waiting.shift()) {
    for (const entry of await readdir(current, { withFileTypes: true })) {
      const found = join(current, entry.name)
      if (entry.isDirectory() && !entry.name.startsWith('.')) waiting.push(found)
      else if (entry.isFile() && found !== path) files.push(relative(folder, found).split(sep).join('/'))
      if (files.length === MAX_BUNDLED_FILES) return files.sort()
    }
  }
  return files.sort()
}

async function exists(path: string): Promise<boolean> {
  return stat(path).then(
    () => true,
    () => false,
  )
}

function wrong(path: string, what: string): InspanError {
  return new InspanError('invalid-input', `${path} ${what}.`)
}
