import type { JsonObject, JsonValue } from './json.ts'

const LONGEST_VALUE = 300
const LONGEST = 1000

/**
 * Returns one line that shows a person what a call would do: the tool and its real arguments, in our words and never in
 * those of a model. A lone command or path is shown as it is.
 */
export function describeCall(toolName: string, args: JsonObject | undefined): string {
  const name = visible(toolName)
  const entries = Object.entries(args ?? {})
  const [first] = entries
  if (first === undefined) return name
  const [key, value] = first
  const isPlain = entries.length === 1 && typeof value === 'string' && /^(command|cmd|(file_?)?path)$/i.test(key)
  const shown = isPlain ? visible(value) : entries.map(([each, of]) => `${visible(each)}: ${show(of)}`).join(', ')
  return cut(`${name}: ${shown}`, LONGEST)
}

/** What a description of a wait is made of, apart. */
export interface DescriptionParts {
  /** What would be done; undefined if the arguments, which are shown anyway, say the same. */
  readonly text?: string
  /** Why somebody is asked, in our words. */
  readonly why?: string
}

/**
 * Takes a description apart: the engine describes the call and appends the rule that asks. Only what follows our own
 * description is that rule: a model may end its arguments with words in parentheses, too.
 */
export function splitDescription(
  toolName: string,
  args: JsonObject | undefined,
  description: string,
  payload: JsonObject = {},
): DescriptionParts {
  const known = payload['why']
  if (typeof known === 'string') {
    // About the call of a coding agent, where the description begins with the arguments in other words.
    return { ...(Object.keys(args ?? {}).length === 0 ? { text: description } : {}), why: known }
  }
  const call = describeCall(toolName, args)
  const isOurs = description.startsWith(`${call} (`) && description.endsWith(')')
  const why = isOurs ? { why: description.slice(call.length + 2, -1) } : {}
  if (args !== undefined) return isOurs || description === call ? why : { text: description }
  return { text: isOurs ? call : description, ...why }
}

function show(value: JsonValue): string {
  return cut(visible(typeof value === 'string' ? value : JSON.stringify(value)), LONGEST_VALUE)
}

/** Makes characters harmless that would hide or move others: controls, line breaks, marks of text direction. */
function visible(text: string): string {
  return text
    .replace(/[\p{Cc}\p{Zl}\p{Zp}]+/gu, ' ')
    .replace(/[\p{Cf}\p{Cs}]/gu, '?')
    .trim()
}

/** Cuts between code points, and says how much is missing. */
function cut(text: string, longest: number): string {
  if (text.length <= longest) return text
  const kept = Array.from(text.slice(0, longest + 1))
    .slice(0, -1)
    .join('')
    .slice(0, longest)
  return `${kept}… (${text.length - kept.length} more characters)`
}
