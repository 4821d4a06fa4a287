import type { JsonObject } from '@evener/protocol'
import type { ActivityDraft } from '../kit/activity.ts'
import type { OpenCall } from '../kit/calls.ts'
import { asText } from '../kit/fields.ts'
import type { HeldRecord, Run } from '../kit/mapper.ts'

interface Subagent {
  /** The call it works for, as far as that is known. */
  readonly call: OpenCall | undefined
  /** A failure that its call's end makes final. */
  failure: HeldRecord | undefined
}

const AGENT_ONLY: readonly null[] = [null]
/** How many subagents that are over are remembered: memory stays flat however long a run is. */
const REMEMBERED = 256

/**
 * Subagents as hooks tell of them. Their own records are mixed into the stream without a name on them; but the agent waits
 * for the call that started a subagent, so whatever comes while such a call is open is the subagent's.
 */
export class Subagents {
  readonly #run: Run
  readonly #running = new Map<string, Subagent>()
  readonly #ended = new Set<string>()
  /** Open calls that started subagents; the last is the innermost. */
  readonly #spawning: OpenCall[] = []

  constructor(run: Run) {
    this.#run = run
  }

  /** The call whose subagent is at work. */
  get current(): OpenCall | undefined {
    return this.#spawning.at(-1)
  }

  /** The calls that may have made what comes now, the likeliest first. */
  get callers(): readonly (string | null)[] {
    return this.#spawning.length === 0 ? AGENT_ONLY : [...this.#spawning.map((call) => call.callId).reverse(), null]
  }

  spawnedBy(call: OpenCall): void {
    if (!this.#spawning.includes(call)) this.#spawning.push(call)
  }

  /** The call has its result. */
  returned(call: OpenCall, isSuccess: boolean | undefined): void {
    const at = this.#spawning.indexOf(call)
    if (at === -1) return
    this.#spawning.splice(at, 1)
    for (const [id, subagent] of this.#running) if (subagent.call === call) this.#settle(id, subagent, isSuccess)
  }

  hook(record: JsonObject, openCall: OpenCall | undefined): void {
    const name = asText(record['hookEventName'])
    if (name === undefined) return
    const id = asText(record['agentId'])
    const isSubagent = asText(record['parentAgentId']) !== undefined
    if (!isSubagent || id === undefined) {
      this.#run.consume('lifecycle')
      return
    }
    switch (name) {
      case 'agent_start':
      case 'agent_resume':
        this.#start(id, openCall)
        return
      case 'agent_end':
        this.#end(id, true)
        return
      case 'agent_error':
      case 'agent_abort':
        this.#fail(id)
        return
      default:
        this.#run.consume('lifecycle')
    }
  }

  /** The program is gone, and its subagents with it. */
  end(): void {
    for (const [id, subagent] of this.#running) this.#settle(id, subagent, false)
  }

  #start(id: string, openCall: OpenCall | undefined): void {
    const call = this.current ?? openCall
    if (call !== undefined) {
      this.spawnedBy(call)
      call.toldElsewhere = 'told-by-hooks'
    }
    if (this.#running.has(id)) {
      this.#run.consume('lifecycle')
      return
    }
    this.#ended.delete(id)
    this.#running.set(id, { call, failure: undefined })
    this.#run.note([orchestration('subagent_started', id)])
  }

  #end(id: string, isSuccess: boolean): void {
    if (this.#ended.has(id)) {
      this.#run.consume('lifecycle')
      return
    }
    this.#running.get(id)?.failure?.drop('recovered')
    this.#over(id)
    this.#run.note([ended(id, isSuccess)])
  }

  /** Not every error ends a subagent. */
  #fail(id: string): void {
    const subagent = this.#running.get(id)
    if (subagent === undefined) {
      this.#end(id, false)
      return
    }
    subagent.failure?.drop('repeats-error')
    subagent.failure = this.#run.hold([ended(id, false)])
  }

  #settle(id: string, subagent: Subagent, isSuccess: boolean | undefined): void {
    this.#over(id)
    if (subagent.failure === undefined) this.#run.note([ended(id, isSuccess)])
    else if (isSuccess !== true) subagent.failure.keep()
    else {
      subagent.failure.drop('recovered')
      this.#run.note([ended(id, true)])
    }
  }

  #over(id: string): void {
    this.#running.delete(id)
    if (this.#ended.size >= REMEMBERED) this.#ended.clear()
    this.#ended.add(id)
  }
}

export function orchestration(
  action: 'subagent_started' | 'subagent_completed' | 'subagent_failed',
  subagentId: string,
  more: { readonly subagentName?: string; readonly isSuccess?: boolean } = {},
): ActivityDraft {
  return { type: 'orchestration', action, subagentId, ...more }
}

function ended(id: string, isSuccess: boolean | undefined): ActivityDraft {
  if (isSuccess === undefined) return orchestration('subagent_completed', id)
  return orchestration(isSuccess ? 'subagent_completed' : 'subagent_failed', id, { isSuccess })
}
