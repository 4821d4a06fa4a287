import type { JsonObject, JsonValue } from '@inspan/protocol'
import type { HarnessToolCall } from '@inspan/protocol/wire'

export type CallKind = 'command' | 'read' | 'write' | 'search' | 'other'

/** What a call does, as far as its name and input tell. */
export function kindOf({ input = {}, name }: HarnessToolCall): CallKind {
  const word = name.toLowerCase()
  if (typeof input['command'] === 'string' || /bash|shell|exec|command/.test(word)) return 'command'
  if (/write|edit|patch|create_file|multiedit/.test(word)) return 'write'
  if (/read|view|cat|open_file|stat/.test(word)) return 'read'
  if (/grep|search|glob|find|list|ls/.test(word)) return 'search'
  return 'other'
}

const TELLING = ['command', 'path', 'file_path', 'filePath', 'pattern', 'query', 'url', 'prompt', 'question']

/** The one thing of its input that tells most about a call. */
export function subjectOf({ input }: HarnessToolCall): string {
  if (input === undefined) return ''
  const telling = TELLING.map((name) => input[name]).find((value) => typeof value === 'string')
  return telling ?? compact(input)
}

function compact(input: JsonObject): string {
  const entries: readonly (readonly [string, JsonValue])[] = Object.entries(input)
  return entries
    .map(([name, value]) => `${name}: ${typeof value === 'string' ? value : JSON.stringify(value)}`)
    .join(', ')
}
