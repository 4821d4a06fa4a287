import { removeHeadEntry, setHead, setHeadEntry, type Draft } from './draft.ts'
import type { RecordContext } from './reduce.ts'

/** Only the newest are kept: people check what happened long ago before they do it again anyway. */
const MAX_DOUBTS = 100
const MAX_DEFINITIONS = 1000

/** Puts a call in doubt: nobody knows whether it had its effect. */
export function noteDoubt(draft: Draft, call: Judged): void {
  const hashes = hashesOf(call)
  if (hashes.length === 0) return
  const others = draft.head.inDoubt.filter((other) => !hashes.includes(other))
  setHead(draft, 'inDoubt', [...others, ...hashes].slice(-MAX_DOUBTS))
}

/** Takes a call out of doubt: somebody approved it, or it starts again. */
export function endDoubt(draft: Draft, call: Judged): void {
  const hashes = hashesOf(call)
  if (!draft.head.inDoubt.some((hash) => hashes.includes(hash))) return
  setHead(
    draft,
    'inDoubt',
    draft.head.inDoubt.filter((hash) => !hashes.includes(hash)),
  )
}

/** The hashes under which rules judged a call. */
interface Judged {
  readonly hash?: string
  readonly judgedAs?: readonly string[]
}

function hashesOf({ hash, judgedAs = [] }: Judged): readonly string[] {
  return hash === undefined ? judgedAs : [...judgedAs.filter((other) => other !== hash), hash]
}

/** Remembers the tool's definition at the time a call of it was allowed. */
export function noteDefinition(draft: Draft, tool: string, hash: string, { seq }: RecordContext): void {
  if (draft.head.definitions.get(tool)?.hash === hash) return
  removeHeadEntry(draft, 'definitions', tool)
  setHeadEntry(draft, 'definitions', tool, { hash, at: seq })
  if (draft.head.definitions.size <= MAX_DEFINITIONS) return
  const [oldest] = draft.head.definitions.entries()
  if (oldest !== undefined) removeHeadEntry(draft, 'definitions', oldest[0])
}
