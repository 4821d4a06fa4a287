import { readdir, realpath, stat } from 'node:fs/promises'
import { dirname, join, resolve } from 'node:path'
import { InspanError } from '@inspan/protocol'
import { isWithin, readWithin } from '../safe-file.ts'
import { splitFrontMatter } from '../skills/front-matter.ts'

const MAX_RULE_BYTES = 128 * 1024

/** Instructions from a file. */
export interface RuleFile {
  /** The real path. */
  readonly path: string
  /** Without front matter. */
  readonly text: string
}

/**
 * Reads rules in the given order: Markdown files, or folders of them, which are read one level deep in alphabetical
 * order. Throws on a path that does not exist, and on a file that is refused.
 */
export async function loadRules(entries: readonly string[], root: string = process.cwd()): Promise<RuleFile[]> {
  const rules: RuleFile[] = []
  for (const entry of entries) rules.push(...(await rulesOf(resolve(root, entry))))
  return rules
}

async function rulesOf(path: string): Promise<RuleFile[]> {
  const real = await realpath(path).catch((error: unknown) => {
    throw new InspanError('not-found', `There are no rules at ${path}.`, { cause: error })
  })
  if (!(await stat(real)).isDirectory()) {
    if (!path.endsWith('.md')) throw new InspanError('invalid-input', `Rules are .md files, and ${path} is none.`)
    return [await ruleOf(dirname(real), real)]
  }
  const names = (await readdir(real, { withFileTypes: true }))
    .filter((entry) => entry.name.endsWith('.md') && !entry.isDirectory())
    .map(({ name }) => name)
    .sort()
  return Promise.all(names.map((name) => ruleOf(real, join(real, name))))
}

async function ruleOf(folder: string, path: string): Promise<RuleFile> {
  const read = await readWithin(folder, path, MAX_RULE_BYTES)
  return { path: read.path, text: (splitFrontMatter(read.text)?.body ?? read.text).trim() }
}

/**
 * Finds the AGENTS.md that holds for a folder: the nearest one upwards, and no further than `within`. A link that leads
 * out of `within` is refused.
 */
export async function nearestAgentsFile(folder: string, within: string): Promise<RuleFile | undefined> {
  const top = await realpath(within)
  for (let current = await realpath(folder); isWithin(top, current); current = dirname(current)) {
    const path = join(current, 'AGENTS.md')
    const isThere = await stat(path).then(
      () => true,
      () => false,
    )
    if (isThere) return ruleOf(top, path)
    if (current === top) break
  }
  return undefined
}
