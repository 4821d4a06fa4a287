import { setHead, type Draft } from './draft.ts'

/** The newest are kept: what happened long ago is looked at before it is done again anyway. */
const MAX_DOUBTS = 100
const MAX_DEFINITIONS = 1000

/** Nobody knows whether the call had its effect. */
export function noteDoubt(draft: Draft, hash: string | undefined): void {
  if (hash === undefined) return
  const others = draft.head.inDoubt.filter((other) => other !== hash)
  setHead(draft, 'inDoubt', [...others, hash].slice(-MAX_DOUBTS))
}

/** Somebody has looked at it, or it begins anew. */
export function endDoubt(draft: Draft, hash: string | undefined): void {
  if (hash === undefined || !draft.head.inDoubt.includes(hash)) return
  setHead(
    draft,
    'inDoubt',
    draft.head.inDoubt.filter((other) => other !== hash),
  )
}

/** Remembers what the tool was when a call of it was allowed. */
export function noteDefinition(draft: Draft, tool: string, hash: string): void {
  const { definitions } = draft.head
  if (definitions.some((known) => known.tool === tool && known.hash === hash)) return
  const others = definitions.filter((known) => known.tool !== tool)
  setHead(draft, 'definitions', [...others, { tool, hash }].slice(-MAX_DEFINITIONS))
}
