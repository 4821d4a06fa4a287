import { homedir } from 'node:os'
import { join } from 'node:path'
import type { JsonObject } from '@inspan/protocol'
import type { SourcedTool, ToolOutcome, ToolSource } from '@inspan/protocol/driver'
import { rank } from '../search/rank.ts'
import type * as LoadSkill from './load-skill.ts'
import type { Skill, SkillText } from './load-skill.ts'

/** Where projects and people keep skills. */
const USUAL_PLACES = ['.agents/skills', '.claude/skills']

export interface SkillsOptions {
  /** Skill folders, or folders of skill folders. Relative ones start from `root`. */
  readonly paths?: readonly string[]
  /** Default: the current folder. */
  readonly root?: string
  /** A project whose usual places are searched as well. Only for a folder that is trusted. */
  readonly project?: string
  /** Whether the usual places in the home folder are searched. Default: false. */
  readonly home?: boolean
  /** Offers a search instead of naming every skill. */
  readonly search?: boolean
  /** Called when a skill is not used, with its name and the reason. */
  readonly onProblem?: (problem: string) => void
}

/** Skills as a source of tools. A model sees names and descriptions, and reads a skill when it needs it. */
export class Skills implements ToolSource {
  readonly id: string = 'skills'
  readonly #skills: ReadonlyMap<string, Skill>
  readonly #tools: readonly SourcedTool[]

  private constructor(skills: ReadonlyMap<string, Skill>, hasSearch: boolean) {
    this.#skills = skills
    this.#tools = skills.size === 0 ? [] : hasSearch ? [SEARCH, skillTool()] : [skillTool([...skills.values()])]
  }

  /** Finds the skills. Throws if a given path does not exist; a skill that is not valid is reported and left out. */
  static async load(options: SkillsOptions): Promise<Skills> {
    const {
      home = false,
      onProblem = () => undefined,
      paths = [],
      project,
      root = process.cwd(),
      search = false,
    } = options
    const usual = [...(project === undefined ? [] : [project]), ...(home ? [homedir()] : [])].flatMap((folder) =>
      USUAL_PLACES.map((place) => join(folder, place)),
    )
    const { findSkills } = await loading()
    const skills = new Map<string, Skill>()
    const add = (found: readonly Skill[]): void => {
      for (const skill of found) {
        const first = skills.get(skill.name)
        if (first === undefined) skills.set(skill.name, skill)
        else if (first.path !== skill.path) onProblem(`${skill.path} is not used: ${first.path} has the same name.`)
      }
    }
    for (const path of paths) add(await findSkills(path, root, onProblem))
    for (const place of usual) {
      add(
        await findSkills(place, root, onProblem).catch((error: unknown) => {
          // Nobody has to have them.
          if ((error as { code?: unknown }).code !== 'not-found') onProblem(String(error))
          return []
        }),
      )
    }
    return new Skills(skills, search)
  }

  get skills(): readonly Skill[] {
    return [...this.#skills.values()]
  }

  list(): readonly SourcedTool[] {
    return this.#tools
  }

  async call(name: string, input: JsonObject): Promise<ToolOutcome> {
    return name === SEARCH.name ? this.#search(input) : this.#read(input)
  }

  async close(): Promise<void> {}

  #search({ query }: JsonObject): ToolOutcome {
    const found = rank(typeof query === 'string' ? query : '', this.skills, ({ description, name }) => [
      name,
      description,
    ])
    const lines = found.map(({ description, name }) => `${name}: ${description}`)
    return { result: lines.length === 0 ? 'No skill fits.' : lines.join('\n') }
  }

  async #read({ file, name }: JsonObject): Promise<ToolOutcome> {
    const skill = typeof name === 'string' ? this.#skills.get(name) : undefined
    if (skill === undefined) return { result: `There is no skill ${JSON.stringify(name)}.`, isError: true }
    const read = typeof file === 'string' ? await (await loading()).bundledFile(skill, file) : await withFiles(skill)
    return { result: read.text, activity: activityOf(skill, read) }
  }
}

/** Needed only by programs that have skills. */
function loading(): Promise<typeof LoadSkill> {
  return import('./load-skill.ts')
}

async function withFiles(skill: Skill): Promise<SkillText> {
  const { bundledFiles, skillBody } = await loading()
  const { path, text } = await skillBody(skill)
  const files = await bundledFiles(skill)
  if (files.length === 0) return { path, text }
  return { path, text: `${text}\n\nFiles of this skill, in ${skill.folder}:\n${files.join('\n')}` }
}

function activityOf({ name }: Skill, { path }: SkillText): NonNullable<ToolOutcome['activity']> {
  const timestamp = new Date().toISOString()
  return {
    mapper: 'skills',
    version: 1,
    events: [{ type: 'skill', timestamp, path, skillName: name, isSuccess: true }],
  }
}

const READS = { category: 'read', isIdempotent: true, annotations: { readOnlyHint: true } } as const

const SEARCH: SourcedTool = {
  ...READS,
  name: 'search_skills',
  description: 'Finds skills: instructions for kinds of tasks. Read one with the tool "skill".',
  inputSchema: {
    type: 'object',
    properties: { query: { type: 'string' } },
    required: ['query'],
    additionalProperties: false,
  },
}

function skillTool(skills?: readonly Skill[]): SourcedTool {
  const about = 'Reads a skill: instructions for a kind of task. Read one before a task that it is about.'
  const named = skills?.map(({ description, name }) => `- ${name}: ${description}`).join('\n')
  return {
    ...READS,
    name: 'skill',
    description: named === undefined ? `${about} Find skills with "search_skills".` : `${about} Skills:\n${named}`,
    inputSchema: {
      type: 'object',
      properties: {
        name: { type: 'string', ...(skills === undefined ? {} : { enum: skills.map(({ name }) => name) }) },
        file: {
          type: 'string',
          description: 'A file of the skill, relative to its folder. Default: its instructions.',
        },
      },
      required: ['name'],
      additionalProperties: false,
    },
  }
}
