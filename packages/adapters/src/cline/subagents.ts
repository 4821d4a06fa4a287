import type { JsonObject } from '@inspan/protocol'
import type { ActivityDraft } from '../kit/activity.ts'
import type { OpenCall } from '../kit/calls.ts'
import { asText } from '../kit/fields.ts'
import type { HeldRecord, Run } from '../kit/mapper.ts'

interface Subagent {
  /** The call that started the subagent, if known. */
  readonly call: OpenCall | undefined
  /** A failure that becomes final when the call ends. */
  failure: HeldRecord | undefined
}

/** An open call that starts a subagent. */
interface Spawn {
  readonly call: OpenCall
  /** The agent that made the call, if a hook told. */
  readonly by: string | undefined
  subagent: string | undefined
}

const AGENT_ONLY: readonly null[] = [null]
/** How many ended subagents are remembered. The bound keeps memory constant in long runs. */
const REMEMBERED = 256

/**
 * Tracks subagents by their hooks. Their records are mixed into the stream without a name. But the agent waits for the
 * calls that started subagents, so whatever comes while such a call is open is a subagent's. Which subagent makes a
 * call is known from the hook before it: several may work at the same time.
 */
export class ClineSubagents {
  readonly #run: Run
  readonly #running = new Map<string, Subagent>()
  readonly #ended = new Set<string>()
  /** The last one is the innermost or the latest. */
  readonly #spawning: Spawn[] = []
  /** Agents that announced a call through a hook and have not made it yet. */
  #calling: string[] = []

  constructor(run: Run) {
    this.#run = run
  }

  /** The call whose subagent is working. */
  get current(): OpenCall | undefined {
    return this.#spawning.at(-1)?.call
  }

  /** The possible callers of what comes next, the likeliest first. */
  get callers(): readonly (string | null)[] {
    return this.#spawning.length === 0 ? AGENT_ONLY : [...this.#spawning.map(({ call }) => call.callId).reverse(), null]
  }

  /** Returns who makes the next call, and for which call. */
  takeCaller(): { readonly agentId?: string; readonly parent: string | undefined } {
    const agentId = this.#calling.shift()
    if (agentId === undefined) return { parent: this.current?.callId }
    return { agentId, parent: this.#running.get(agentId)?.call?.callId }
  }

  spawnedBy(call: OpenCall, by: string | undefined): void {
    if (!this.#spawning.some((spawn) => spawn.call === call)) this.#spawning.push({ call, by, subagent: undefined })
  }

  /** Ends the subagent of this call, which has its result. */
  returned(call: OpenCall, isSuccess: boolean | undefined): void {
    const at = this.#spawning.findIndex((spawn) => spawn.call === call)
    if (at === -1) return
    this.#spawning.splice(at, 1)
    for (const [id, subagent] of this.#running) if (subagent.call === call) this.#settle(id, subagent, isSuccess)
  }

  hook(record: JsonObject, openCall: OpenCall | undefined): void {
    const name = asText(record['hookEventName'])
    if (name === undefined) return
    const id = asText(record['agentId'])
    const parentId = asText(record['parentAgentId'])
    if (name === 'tool_call' && id !== undefined) this.#calling.push(id)
    else this.#calling = this.#calling.filter((calling) => calling !== id)
    if (parentId === undefined || id === undefined) {
      this.#run.consume('lifecycle')
      return
    }
    switch (name) {
      case 'agent_start':
      case 'agent_resume':
        this.#start(id, parentId, openCall)
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

  /** Ends all subagents, because the CLI has exited. */
  end(): void {
    for (const [id, subagent] of this.#running) this.#settle(id, subagent, false)
  }

  #start(id: string, parentId: string, openCall: OpenCall | undefined): void {
    const spawn = this.#spawning.find(({ by, subagent }) => by === parentId && subagent === undefined)
    if (spawn !== undefined) spawn.subagent = id
    const call = spawn?.call ?? this.current ?? openCall
    if (call !== undefined) {
      this.spawnedBy(call, parentId)
      call.reportedElsewhere = 'reported-by-hooks'
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

  /** Holds a failure back, because not every error ends a subagent. */
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
