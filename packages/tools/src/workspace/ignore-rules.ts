import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Ignore } from 'ignore'

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
  const names = under === '' ? ['.gitignore', '.git/info/exclude'] : ['.gitignore']
  let rules = above
  for (const name of names) {
    let text: string
    try {
      text = readFileSync(join(base, name), 'utf8')
    } catch {
      continue
    }
    rules = { under, matcher: make().add(text), above: rules }
  }
  return rules
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
  return () => ignore({ allowRelativePaths: true })
}
