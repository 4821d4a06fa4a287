import type { JsonObject } from '@evener/protocol'
import type { ActivityDraft } from '../kit/activity.ts'
import { asObject, asText, NO_FIELDS, textList } from '../kit/fields.ts'
import type { ConsumedCall } from '../kit/tool-table.ts'

const FAILED: ReadonlySet<string> = new Set(['errored', 'error', 'failed', 'interrupted', 'shutdown'])
const CONSUMED: ConsumedCall = Object.freeze({ consumed: 'orchestration' })

/** Subagents as `collab_tool_call` items show them: started by one, reported on by any number of later ones. */
export class Subagents {
  readonly #ended = new Set<string>()

  /** What a completed item tells that was not told before. */
  read(item: JsonObject): readonly ActivityDraft[] | ConsumedCall {
    const drafts = started(item)
    this.#addEnded(item, drafts)
    return drafts.length === 0 ? CONSUMED : drafts
  }

  #addEnded(item: JsonObject, drafts: ActivityDraft[]): void {
    const states = asObject(item['agents_states']) ?? NO_FIELDS
    for (const subagentId of Object.keys(states)) {
      const state = states[subagentId]
      const status = asText(asObject(state)?.['status']) ?? asText(state)
      if (status === undefined || this.#ended.has(subagentId)) continue
      const isSuccess = status === 'completed'
      if (!isSuccess && !FAILED.has(status)) continue
      this.#ended.add(subagentId)
      const action = isSuccess ? 'subagent_completed' : 'subagent_failed'
      drafts.push({ type: 'orchestration', action, subagentId, isSuccess })
    }
  }
}

function started(item: JsonObject): ActivityDraft[] {
  if (item['tool'] !== 'spawn_agent') return []
  if (item['status'] === 'failed') return [{ type: 'orchestration', action: 'subagent_failed', isSuccess: false }]
  return textList(item['receiver_thread_ids']).map((subagentId) => ({
    type: 'orchestration',
    action: 'subagent_started',
    subagentId,
  }))
}
