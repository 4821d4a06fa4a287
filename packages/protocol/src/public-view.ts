import { isPrivateSetting } from './content-settings.ts'
import { emptyHead, type Head } from './head.ts'
import { isObject } from './json-op.ts'
import type { JsonObject, JsonValue } from './json.ts'
import { asJson, type Op } from './op.ts'
import { storedHead, type StoredHead } from './stored-head.ts'

/**
 * The fields of a head that clients may see. Everything else stays in the process: native sessions, the application's
 * own state, request contexts, answers that are kept for later. A field that is not named here is private.
 */
const PUBLIC = [
  'stream',
  'seq',
  'lineage',
  'title',
  'rewrittenAt',
  'mode',
  'model',
  'agentId',
  'rules',
  'grants',
  'yolo',
  'settings',
  'goal',
  'queue',
  'queueHeld',
  'waits',
  'tasks',
  'usage',
  'om',
  'run',
  'lastRun',
] as const

type PublicKey = (typeof PUBLIC)[number]

const PRIVATE_OF_RUN: ReadonlySet<string> = new Set(['requestContext', 'kept', 'turn', 'processes'])
const PRIVATE_OF_ITEM: ReadonlySet<string> = new Set(['requestContext', 'turn'])
const PRIVATE_OF_WAIT: ReadonlySet<string> = new Set(['preconditions', 'requestState'])
const NOTHING: ReadonlySet<string> = new Set()

/** Returns the head as clients may see it: private fields have the values of an empty thread. */
export function publicHead(head: Head): StoredHead {
  return publicStored(storedHead(head))
}

/** Returns the ops without what clients must not see. */
export function publicOps(ops: readonly Op[]): readonly Op[] {
  // Nearly all ops are about messages, which are public.
  if (ops.every((op) => op.path[0] !== 'head')) return ops
  return ops.map(publicOp).filter((op) => op !== undefined)
}

function publicOp(op: Op): Op | undefined {
  const [slice, key, id, field] = op.path
  if (slice !== 'head') return op
  if (key === undefined) {
    return op.type === 'set' ? { ...op, value: asJson(publicStored(op.value as unknown as StoredHead)) } : op
  }
  if (!isPublic(key)) return undefined
  if (key === 'settings' && id !== undefined && isPrivateSetting(id)) return undefined
  if (key === 'run' && id !== undefined && PRIVATE_OF_RUN.has(id)) return undefined
  if ((key === 'queue' || key === 'waits') && field !== undefined && hidden(key).has(field)) return undefined
  if (op.type !== 'set') return op
  const value = id === undefined ? publicSlice(key, op.value) : publicEntry(key, op.value, op.path.length)
  return value === op.value ? op : { ...op, value }
}

function publicStored(stored: StoredHead): StoredHead {
  const shown = PUBLIC.map((key): [string, unknown] => [key, publicSlice(key, stored[key] as JsonValue)])
  return { ...storedHead(emptyHead(stored.stream)), ...(Object.fromEntries(shown) as Partial<StoredHead>) }
}

function publicSlice(key: PublicKey, value: JsonValue): JsonValue {
  if (!isObject(value)) return value
  if (key === 'run') return { ...without(value, PRIVATE_OF_RUN), processes: {} }
  if (key === 'settings') return Object.fromEntries(Object.entries(value).filter(([id]) => !isPrivateSetting(id)))
  if (key !== 'queue' && key !== 'waits') return value
  return Object.fromEntries(Object.entries(value).map(([id, entry]) => [id, publicEntry(key, entry, 3)]))
}

/** `depth` is the length of the path: 3 for an entry as a whole. */
function publicEntry(key: PublicKey, entry: JsonValue, depth: number): JsonValue {
  return depth === 3 && isObject(entry) ? without(entry, hidden(key)) : entry
}

function hidden(key: PublicKey): ReadonlySet<string> {
  if (key === 'queue') return PRIVATE_OF_ITEM
  return key === 'waits' ? PRIVATE_OF_WAIT : NOTHING
}

function without(value: JsonObject, names: ReadonlySet<string>): JsonObject {
  return Object.keys(value).some((name) => names.has(name))
    ? Object.fromEntries(Object.entries(value).filter(([name]) => !names.has(name)))
    : value
}

function isPublic(key: string): key is PublicKey {
  return PUBLIC.some((each) => each === key)
}
