import { applyFrame, asJson, viewFrom, type Op, type ThreadView, type ViewSnapshot } from '@inspan/protocol/log'
import { toHarnessState, type HarnessState, type StateMessage, type WireMessage } from '@inspan/protocol/wire'
import type { JsonValue } from '@inspan/protocol'

/**
 * The state for clients of version 0: messages in an array, ops with indexes. The array begins with a fixed message, so
 * that an index means the same message for as long as the client is connected.
 */
export class SeedState {
  #view: ThreadView
  #state: HarnessState

  constructor(snapshot: ViewSnapshot) {
    this.#view = viewFrom(snapshot)
    this.#state = toHarnessState(this.#view)
  }

  get seq(): number {
    return this.#view.seq
  }

  message(): StateMessage {
    return { type: 'state', state: this.#state, seq: this.#view.seq }
  }

  /** Returns the ops for this client, or `undefined` when it needs the whole state again. */
  apply(frame: { readonly seq: number; readonly operations: readonly Op[] }): readonly Op[] | undefined {
    this.#view = applyFrame(this.#view, { type: 'delta', ...frame })
    const before = this.#state
    const after = toHarnessState(this.#view)
    this.#state = after
    // Version 0 cannot take anything away.
    if (this.#view.needsWindow || after.messages.length < before.messages.length) return undefined
    if (before.error !== undefined && after.error === undefined) return undefined
    const ops: Op[] = []
    if (before.status !== after.status) ops.push(set(['status'], after.status))
    if (after.error !== undefined && after.error !== before.error) ops.push(set(['error'], after.error))
    if (after.rewind !== undefined && after.rewind !== before.rewind) {
      ops.push(set(['rewind'], after.rewind as unknown as JsonValue))
    }
    if (after.config !== undefined && JSON.stringify(after.config) !== JSON.stringify(before.config)) {
      ops.push(set(['config'], asJson(after.config)))
    }
    const approvals = after.pendingApprovals ?? []
    if (JSON.stringify(approvals) !== JSON.stringify(before.pendingApprovals ?? [])) {
      ops.push(set(['pendingApprovals'], approvals as unknown as JsonValue))
    }
    for (const [index, message] of after.messages.entries()) {
      const known = before.messages[index]
      if (known !== undefined && known.id !== message.id) return undefined
      const path = ['messages', String(index)]
      if (known === undefined) ops.push(set(path, asJson(message)))
      else ops.push(...messageOps(path, known, message))
    }
    return ops
  }
}

const TEXTS = ['content', 'reasoning'] as const
const OTHERS = ['status', 'toolCalls', 'attachments'] as const

function messageOps(path: readonly string[], before: WireMessage, after: WireMessage): readonly Op[] {
  const ops: Op[] = []
  for (const field of TEXTS) {
    const text = after[field]
    const known = before[field]
    if (text === undefined || text === known) continue
    const at = [...path, field]
    if (known !== undefined && text.startsWith(known)) {
      ops.push({ type: 'append-text', path: at, value: text.slice(known.length) })
    } else {
      ops.push(set(at, text))
    }
  }
  for (const field of OTHERS) {
    const value = after[field]
    if (value === undefined || JSON.stringify(value) === JSON.stringify(before[field])) continue
    ops.push(set([...path, field], value as unknown as JsonValue))
  }
  return ops
}

function set(path: readonly string[], value: JsonValue): Op {
  return { type: 'set', path, value }
}
