import type { JsonObject, JsonValue } from '@inspan/protocol'
import type { ToolCallRequest } from '@inspan/protocol/driver'
import { cleanText } from '../kit/clean-text.ts'
import { asArray, asObject, asText } from '../kit/fields.ts'

const MAX_WORDS = 2_000
const VERBS: ReadonlyMap<string, string> = new Map([
  ['read_file', 'Read'],
  ['write_file', 'Write'],
  ['edit_file', 'Change'],
  ['list_files', 'List'],
  ['web_fetch', 'Fetch'],
])

/**
 * Says what a call will do, in our words and from its arguments alone: what the model says about its call may be
 * anything. `said`: those words, which are added as such only if the arguments say nothing.
 */
export function approvalWords({ toolName, args }: ToolCallRequest, said: string | undefined): string {
  const words = actionOf(toolName, args)
  if (words !== undefined) return cut(words)
  return said === undefined ? toolName : cut(`${toolName}, of which the agent says: "${cleanText(said)}"`)
}

function actionOf(toolName: string, args: JsonObject): string | undefined {
  if (Object.keys(args).length === 0) return undefined
  if (toolName === 'execute_command') {
    const command = textOf(args['command']) ?? textOf(args['commands'])
    const cwd = asText(args['cwd'])
    if (command !== undefined) return `Run ${command}${cwd === undefined ? '' : ` in ${cwd}`}`
  }
  const verb = VERBS.get(toolName)
  const target = asText(args['path']) ?? asText(args['url']) ?? changedPaths(args)
  if (verb !== undefined && target !== undefined) return `${verb} ${target}`
  return `${toolName} ${JSON.stringify(args)}`
}

function textOf(value: JsonValue | undefined): string | undefined {
  const texts = asArray(value)?.map((item) => asText(item) ?? JSON.stringify(item))
  return asText(value) ?? (texts === undefined || texts.length === 0 ? undefined : texts.join('; '))
}

function changedPaths(args: JsonObject): string | undefined {
  const paths = (asArray(args['changes']) ?? []).flatMap((change) => asText(asObject(change)?.['path']) ?? [])
  return paths.length === 0 ? undefined : paths.join(', ')
}

function cut(text: string): string {
  const words = cleanText(text)
  return words.length <= MAX_WORDS ? words : `${words.slice(0, MAX_WORDS).toWellFormed()}…`
}
