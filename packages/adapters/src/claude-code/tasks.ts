import type { JsonObject } from '@inspan/protocol'
import { asArray, asObject, asText, firstText, NO_FIELDS } from '../kit/fields.ts'
import type { Run } from '../kit/mapper.ts'
import type { ActivityDraft } from '../kit/activity.ts'

interface Task {
  readonly name: string | undefined
  /** The last status in a `task_updated` record. */
  status: string | undefined
}

const AGENT_TYPES: ReadonlySet<string> = new Set(['local_agent', 'remote_agent', 'in_process_teammate'])

/** Tracks subagents and background shells by their `system/task_*` records. */
export class Tasks {
  readonly #run: Run
  readonly #agents = new Map<string, Task>()
  readonly #shells = new Set<string>()
  /** The call that started each subagent, kept for what the subagent says after its end. */
  readonly #calls = new Map<string, string>()
  /** Calls whose subagents work in a directory of their own, which is not reported. */
  readonly #elsewhere = new Set<string>()
  /** Subagents whose end we emitted before their own last record. */
  readonly #endTold = new Set<string>()
  #hadAgents = false

  constructor(run: Run) {
    this.#run = run
  }

  /** Whether there were subagents in this run. Their usage is in the totals. */
  get hadAgents(): boolean {
    return this.#hadAgents
  }

  /** Returns the speaker of a record: the call that started the subagent, `undefined` for the agent itself. */
  speakerOf(record: JsonObject): string | undefined {
    const parent = asText(record['parent_tool_use_id'])
    if (parent !== undefined) return parent
    const agentId = asText(record['agent_id'])
    return agentId === undefined ? undefined : (this.#calls.get(agentId) ?? agentId)
  }

  /** Notes the call of a subagent. An isolated subagent, and its own subagents, work in another directory. */
  called(callId: string, input: JsonObject, parent: string | undefined): void {
    if (asText(input['isolation']) !== undefined || this.isElsewhere(parent)) this.#elsewhere.add(callId)
  }

  /** Whether the subagent of this call works in another directory than the agent. */
  isElsewhere(callId: string | undefined): boolean {
    return callId !== undefined && this.#elsewhere.has(callId)
  }

  started(record: JsonObject): void {
    const id = asText(record['task_id'])
    if (id === undefined) return
    const type = asText(record['task_type'])
    const isAgent = type === undefined ? asText(record['subagent_type']) !== undefined : AGENT_TYPES.has(type)
    if (!isAgent) {
      this.#shells.add(id)
      this.#run.consume('background-task')
      return
    }
    const toolUseId = asText(record['tool_use_id'])
    const name = firstText(record, 'subagent_type', 'description')
    this.#hadAgents = true
    this.#agents.set(id, { name, status: undefined })
    if (toolUseId !== undefined) this.#calls.set(id, toolUseId)
    const call = toolUseId === undefined ? undefined : this.#run.openCall(toolUseId)
    if (call !== undefined) call.reportedElsewhere = 'reported-by-task-records'
    this.#run.note([orchestration('subagent_started', id, name)])
  }

  updated(record: JsonObject): void {
    const task = this.#agents.get(asText(record['task_id']) ?? '')
    const status = asText((asObject(record['patch']) ?? NO_FIELDS)['status'])
    if (task !== undefined && status !== undefined) task.status = status
    this.#run.consume('task-progress')
    for (const item of asArray(record['workflow_progress']) ?? []) this.#workflowAgent(asObject(item) ?? NO_FIELDS)
  }

  /** Handles subagents of a workflow, which have no task records of their own. */
  #workflowAgent(item: JsonObject): void {
    const id = asText(item['agentId'])
    if (id === undefined || this.#endTold.has(id)) return
    if (!this.#agents.has(id)) {
      const name = firstText(item, 'agentType', 'label')
      this.#hadAgents = true
      this.#agents.set(id, { name, status: undefined })
      this.#run.note([orchestration('subagent_started', id, name)])
    }
    const { state } = item
    if (state !== 'done' && state !== 'error') return
    const name = this.#agents.get(id)?.name
    this.#agents.delete(id)
    this.#endTold.add(id)
    this.#run.note([ended(id, name, state === 'done' ? 'completed' : 'failed')])
  }

  notified(record: JsonObject): void {
    const id = asText(record['task_id']) ?? ''
    const status = asText(record['status'])
    const task = this.#agents.get(id)
    if (task !== undefined && status !== undefined) {
      this.#agents.delete(id)
      this.#run.note([ended(id, task.name, status)])
      return
    }
    if (this.#endTold.delete(id)) {
      this.#run.consume('repeats-error')
      return
    }
    if (!this.#shells.delete(id)) return
    if (status === 'completed') this.#run.consume('background-task')
    else this.#run.warn(shellEnd(status ?? 'failed', asText(record['summary'])), 'background-task')
  }

  /** Ends the subagents that the agent was waiting for, because the turn has failed. */
  failed(): void {
    for (const [id, task] of this.#agents) {
      const call = this.#calls.get(id)
      if (call === undefined || this.#run.openCall(call) === undefined) continue
      this.#agents.delete(id)
      this.#endTold.add(id)
      this.#run.note([ended(id, task.name, task.status ?? 'killed')])
    }
  }

  /** Ends all subagents, because the CLI has exited. */
  end(): void {
    for (const [id, task] of this.#agents) this.#run.note([ended(id, task.name, task.status ?? 'killed')])
    this.#agents.clear()
  }
}

/** The summary of a failure says what failed and how. Otherwise it says what the command was for. */
function shellEnd(status: string, summary: string | undefined): string {
  if (status === 'failed') return summary ?? 'A background command failed.'
  return `A background command was ${status}${summary === undefined ? '.' : `: ${summary}`}`
}

function ended(id: string, name: string | undefined, status: string): ActivityDraft {
  return orchestration(status === 'completed' ? 'subagent_completed' : 'subagent_failed', id, name)
}

function orchestration(
  action: 'subagent_started' | 'subagent_completed' | 'subagent_failed',
  subagentId: string,
  subagentName: string | undefined,
): ActivityDraft {
  return {
    type: 'orchestration',
    action,
    subagentId,
    ...(subagentName === undefined ? {} : { subagentName }),
    ...(action === 'subagent_started' ? {} : { isSuccess: action === 'subagent_completed' }),
  }
}
