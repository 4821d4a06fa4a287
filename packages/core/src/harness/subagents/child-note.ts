import { createHash } from 'node:crypto'
import type { JsonObject } from '@inspan/protocol'
import { isObject } from '../tools/tool-input.ts'

/** What the thread of a subagent says about it, in its metadata. Never changed, so another process finds the same. */
export interface ChildNote {
  readonly agentType: string
  readonly task: string
  /** Empty: the model of the parent's agent. */
  readonly modelId: string
  /** The agent that works in the thread. */
  readonly agentId: string
  /** 1 for a subagent of the session's own agent. */
  readonly depth: number
  readonly forked: boolean
  /** The parent does not wait for it. */
  readonly background?: true
  /** The run of the parent that started it. */
  readonly parentRun: string
  /** Its share of the parent's budget. */
  readonly budget?: { readonly tokens?: number; readonly usd?: number }
}

const KEY = 'subagent'

/** Returns the id of the thread of a call, the same for every attempt at the call. */
export function childThreadOf(parent: string, idempotencyKey: string): string {
  const digest = createHash('sha256').update(`${parent}\n${idempotencyKey}`).digest('hex')
  return `subagent-${digest.slice(0, 32)}`
}

export function childRunOf(child: string): string {
  return `${child}-run`
}

export function childMetadata(note: ChildNote, parent: string): JsonObject {
  const fork = note.forked ? { forkedSubagent: true } : {}
  return { [KEY]: { ...note }, ...fork, parentThreadId: parent }
}

/** Returns the note of a subagent's thread; `undefined` for any other thread. */
export function childNoteOf(metadata: JsonObject): ChildNote | undefined {
  const note = metadata[KEY]
  if (!isObject(note) || typeof note['agentType'] !== 'string' || typeof note['depth'] !== 'number') return undefined
  return note as unknown as ChildNote
}
