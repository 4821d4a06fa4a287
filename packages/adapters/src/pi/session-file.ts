import type { JsonObject } from '@inspan/protocol'
import { asArray, asInteger, asObject, asText, NO_FIELDS } from '../kit/fields.ts'
import { parseRecord } from '../kit/json-line.ts'

/** A session as it was at an anchor. */
export interface SessionCut {
  /** The lines of a session file that ends at the anchor. */
  readonly lines: readonly string[]
  /** Whether the session itself ends at the anchor. */
  readonly isWhole: boolean
  /** The directory in which the session was begun. */
  readonly cwd: string | undefined
}

interface SessionEntry {
  readonly line: string
  readonly record: JsonObject
}

/** Entries that the model does not see. */
const SILENT: ReadonlySet<string | undefined> = new Set([
  'model_change',
  'thinking_level_change',
  'session_info',
  'label',
  'custom',
])

/**
 * Returns the path from the session's beginning to the anchor, along the parents of entries: a session is a tree in one
 * file. `undefined` if the anchor is not in it.
 */
export function cutSession(text: string, anchor: string | undefined): SessionCut | undefined {
  const [header, ...entries] = text
    .split('\n')
    .filter((line) => line.trim() !== '')
    .map((line): SessionEntry => ({ line, record: parseRecord(line) ?? NO_FIELDS }))
  if (header === undefined) return undefined
  const head = entries.at(-1)
  const at =
    anchor === undefined
      ? head
      : withResults(
          entries,
          entries.findLast(({ record }) => anchorOfEntry(record) === anchor),
        )
  if (at === undefined) return undefined
  const byId = new Map(entries.map((entry) => [asText(entry.record['id']), entry] as const))
  const way = wayTo(at, byId)
  const wayToHead = head === undefined ? way : wayTo(head, byId)
  const after = wayToHead.slice(way.length)
  return {
    lines: [header.line, ...way.map(({ line }) => line)],
    isWhole: wayToHead[way.length - 1] === at && after.every(({ record }) => SILENT.has(asText(record['type']))),
    cwd: asText(header.record['cwd']),
  }
}

/** Messages have no ids in Pi's output. Their timestamps are both there and in the session file. */
export function anchorOfMessage(message: JsonObject | undefined): string | undefined {
  const stamp = asInteger(message?.['timestamp'])
  return stamp === undefined ? undefined : String(stamp)
}

function anchorOfEntry(record: JsonObject): string | undefined {
  return record['type'] === 'message' ? anchorOfMessage(asObject(record['message'])) : undefined
}

function wayTo(entry: SessionEntry, byId: ReadonlyMap<string | undefined, SessionEntry>): readonly SessionEntry[] {
  const way: SessionEntry[] = []
  const seen = new Set<SessionEntry>()
  for (let at: SessionEntry | undefined = entry; at !== undefined && !seen.has(at);) {
    seen.add(at)
    way.unshift(at)
    const parent = asText(at.record['parentId'])
    at = parent === undefined ? undefined : byId.get(parent)
  }
  return way
}

/** Includes the results of calls: no model accepts calls without results. */
function withResults(entries: readonly SessionEntry[], entry: SessionEntry | undefined): SessionEntry | undefined {
  if (entry === undefined) return undefined
  const content = asArray(asObject(entry.record['message'])?.['content']) ?? []
  let open = content.filter((part) => asObject(part)?.['type'] === 'toolCall').length
  let at = entry
  for (const next of entries.slice(entries.indexOf(entry) + 1)) {
    if (open === 0) break
    const isResult = asObject(next.record['message'])?.['role'] === 'toolResult'
    if (!isResult || next.record['parentId'] !== at.record['id']) break
    at = next
    open -= 1
  }
  return at
}
