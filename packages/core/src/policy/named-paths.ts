import type { JsonValue, ToolCategory } from '@inspan/protocol'
import type { ToolCallRequest } from '@inspan/protocol/driver'
import { strictFileRules, type PathRule } from './judge-files.ts'
import { finding, piece, type Finding, type Judgement } from './judgement.ts'
import { type Whereabouts, pathReach } from '@inspan/shell/judge'
import type { PlacedRule } from './rule-book.ts'

const MOST_TEXTS = 5_000
const MOST_CHARACTERS = 200_000
const ADDRESS = /^(?:https?|wss?|data|mailto):/i
const ONLY_STARS = /^[*?/.]*$/
const LOOKS_LIKE_PATH = /[/\\]|^[.~]|^[\w-]+\.\w+$/

/**
 * Judges a tool whose path arguments are not known, such as one of an MCP server. Any text in its arguments that is a
 * denied path may be meant as one, so somebody has to look.
 */
export function judgeNamedPaths(
  { args, toolName }: ToolCallRequest,
  categories: readonly ToolCategory[],
  rules: readonly PlacedRule[],
  where: Whereabouts,
): Judgement {
  const denies = strictFileRules(rules, 'deny').filter((rule) => isAbout(rule, categories))
  const asks = strictFileRules(rules, 'ask').filter((rule) => isAbout(rule, categories))
  if (denies.length + asks.length === 0) return { denied: null, doubtful: null, pieces: [piece(toolName)] }
  const texts = textsIn(args)
  const find = (list: readonly PathRule[]): Finding | null => {
    const [first] = list
    if (first === undefined) return null
    if (texts === null) return finding(first, toolName)
    for (const text of texts) {
      const rule = list.find((each) => isMeant(each, text, where))
      if (rule !== undefined) return finding(rule, text)
    }
    return null
  }
  return { denied: null, doubtful: find(denies), pieces: [piece(toolName, { ask: find(asks) })] }
}

/**
 * A tool that says it only reads, or only edits, is judged by the rules about that. Commands are judged by their text.
 */
function isAbout({ category }: PathRule, categories: readonly ToolCategory[]): boolean {
  if (categories.includes('execute')) return false
  const said = categories.filter((each) => each === 'read' || each === 'edit')
  return said.length === 0 || said.length < categories.length || (category !== null && categories.includes(category))
}

function isMeant({ pattern }: PathRule, text: string, where: Whereabouts): boolean {
  if (ONLY_STARS.test(pattern.source) && !LOOKS_LIKE_PATH.test(text)) return false
  const reach = pathReach(pattern, text, where, false)
  return reach === 'yes' || (reach === 'maybe' && LOOKS_LIKE_PATH.test(text))
}

/** Returns every text that may be a path, names of arguments included; null when there are too many. */
function textsIn(args: JsonValue): ReadonlySet<string> | null {
  const found = new Set<string>()
  const left: JsonValue[] = [args]
  for (let seen = 0; left.length > 0; seen += 1) {
    if (seen > MOST_TEXTS || left.length > MOST_TEXTS) return null
    const value = left.pop()
    if (typeof value === 'string') add(found, value)
    else if (Array.isArray(value)) for (const item of value as readonly JsonValue[]) left.push(item)
    else if (typeof value === 'object' && value !== null) {
      for (const [name, item] of Object.entries(value)) {
        add(found, name)
        left.push(item)
      }
    }
  }
  let characters = 0
  for (const text of found) characters += text.length
  return characters > MOST_CHARACTERS ? null : found
}

/** A text of several lines is no path, unless it climbs: what comes before `..` need not exist. */
function add(found: Set<string>, value: string): void {
  const text = value.trim()
  if (text === '' || ADDRESS.test(text) || (text.includes('\n') && !text.includes('/../'))) return
  found.add(text)
}
