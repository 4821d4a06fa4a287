import { closeSync, constants, fstatSync, readFileSync } from 'node:fs'
import type { Ignore } from 'ignore'
import { inFolder, openFile, type ContainedPlace } from './contained-folder.ts'

const MOST_BYTES = 1024 * 1024

/** The rules of `.gitignore` files from a folder up to the workspace. */
export interface IgnoreRules {
  /** The path of the folder, with a slash at its end, or empty. */
  readonly under: string
  readonly matcher: Ignore
  readonly above: IgnoreRules | undefined
}

type MakeIgnore = () => Ignore

/** Adds the rules of the folder that is open as `base`, if it has any. */
export function rulesOf(
  base: string,
  path: string,
  above: IgnoreRules | undefined,
  make: MakeIgnore,
): IgnoreRules | undefined {
  const under = path === '.' ? '' : `${path}/`
  const texts = [textOf({ base, name: '.gitignore' })]
  if (under === '') texts.push(excludes(base))
  return texts.reduce<IgnoreRules | undefined>(
    (rules, text) => (text === undefined ? rules : { under, matcher: make().add(text), above: rules }),
    above,
  )
}

function excludes(base: string): string | undefined {
  try {
    return inFolder({ base, name: '.git' }, (git) =>
      inFolder({ base: git, name: 'info' }, (info) => textOf({ base: info, name: 'exclude' })),
    )
  } catch {
    return undefined
  }
}

/** Returns the text of a plain file. Like git, it follows no link: what is left out would tell what is in the target. */
function textOf({ base, name }: Pick<ContainedPlace, 'base' | 'name'>): string | undefined {
  try {
    const fd = openFile({ base, name, path: name }, constants.O_RDONLY)
    try {
      return fstatSync(fd).size > MOST_BYTES ? undefined : readFileSync(fd, 'utf8')
    } finally {
      closeSync(fd)
    }
  } catch {
    return undefined
  }
}

/** The nearest rule that mentions the path decides. */
export function isIgnored(path: string, isFolder: boolean, rules: IgnoreRules | undefined): boolean {
  if (path === '.git' || path.endsWith('/.git')) return true
  for (let each = rules; each !== undefined; each = each.above) {
    const { ignored, unignored } = each.matcher.test(path.slice(each.under.length) + (isFolder ? '/' : ''))
    if (ignored) return true
    if (unignored) return false
  }
  return false
}

/** Loaded on first use. */
export async function loadIgnore(): Promise<MakeIgnore> {
  const { default: ignore } = await import('ignore')
  return () => ignore({ allowRelativePaths: true, ignoreCase: false })
}
