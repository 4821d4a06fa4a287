import type { JsonObject } from '@inspan/protocol'
import type { ActivityDraft } from '../kit/activity.ts'
import { asObject, asText, NO_FIELDS, textList } from '../kit/fields.ts'
import type { ConsumedCall } from '../kit/tool-table.ts'

const FAILED: ReadonlySet<string> = new Set(['errored', 'error', 'failed', 'interrupted', 'shutdown'])
const AT_WORK: ReadonlySet<string> = new Set(['pending_init', 'running'])
const CONSUMED: ConsumedCall = Object.freeze({ consumed: 'orchestration' })

/** Tracks subagents in `collab_tool_call` items: one starts a subagent, any number of later ones report on it. */
export class CodexSubagents {
  readonly #ended = new Set<string>()

  /** Returns the activity of a completed item that was not reported before. */
  read(item: JsonObject): readonly ActivityDraft[] | ConsumedCall {
    const drafts = this.#read(item)
    return drafts.length === 0 ? CONSUMED : drafts
  }

  #read(item: JsonObject): readonly ActivityDraft[] {
    const hasFailed = item['status'] === 'failed'
    switch (item['tool']) {
      case 'spawn_agent':
        if (hasFailed) return [{ type: 'orchestration', action: 'subagent_failed', isSuccess: false }]
        return [...textList(item['receiver_thread_ids']).map(started), ...this.#ends(item)]
      case 'send_input':
        // The states are from before the input: a finished or interrupted subagent works again on its new task.
        return hasFailed ? [] : textList(item['receiver_thread_ids']).flatMap((id) => this.#again(id))
      case 'close_agent':
        return this.#ends(item, !hasFailed)
      default:
        return this.#ends(item)
    }
  }

  #again(subagentId: string): readonly ActivityDraft[] {
    return this.#ended.delete(subagentId) ? [started(subagentId)] : []
  }

  /** `isClosing`: subagents that have not ended by now never will. */
  #ends(item: JsonObject, isClosing = false): readonly ActivityDraft[] {
    const states = asObject(item['agents_states']) ?? NO_FIELDS
    return Object.keys(states).flatMap((subagentId): readonly ActivityDraft[] => {
      const state = states[subagentId]
      const status = asText(asObject(state)?.['status']) ?? asText(state)
      if (status === undefined || this.#ended.has(subagentId)) return []
      const isSuccess = status === 'completed'
      if (!isSuccess && !FAILED.has(status) && !(isClosing && AT_WORK.has(status))) return []
      this.#ended.add(subagentId)
      const action = isSuccess ? 'subagent_completed' : 'subagent_failed'
      return [{ type: 'orchestration', action, subagentId, isSuccess }]
    })
  }
}

function started(subagentId: string): ActivityDraft {
  return { type: 'orchestration', action: 'subagent_started', subagentId }
}
