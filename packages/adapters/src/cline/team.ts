import type { JsonObject } from '@inspan/protocol'
import { asObject, asText } from '../kit/fields.ts'
import type { Run } from '../kit/mapper.ts'
import { orchestration } from './subagents.ts'

interface Teammate {
  readonly name: string | undefined
  /** `ready`: its start was reported and it has no task yet. */
  state: 'ready' | 'working' | 'idle'
}

/** Tracks teammates: agents that work beside the agent, each on one task after the other. */
export class Team {
  readonly #run: Run
  readonly #members = new Map<string, Teammate>()

  constructor(run: Run) {
    this.#run = run
  }

  get isEmpty(): boolean {
    return this.#members.size === 0
  }

  /** Reads a record about a teammate. Returns false if the record is of another kind. */
  read(event: JsonObject): boolean {
    const id = asText(event['agentId'])
    switch (event['type']) {
      case 'teammate_spawned':
        if (id !== undefined) this.#spawned(id, asText(event['role']))
        return true
      case 'task_start':
        if (id !== undefined) this.#began(id)
        return true
      case 'task_end':
        if (id !== undefined) this.#finished(id, event)
        return true
      case 'teammate_shutdown':
        if (id !== undefined) this.#left(id)
        return true
      case 'team_mission_log':
      case 'team_task_updated':
      case 'team_message':
      case 'run_queued':
      case 'run_started':
      case 'run_progress':
      case 'run_completed':
      case 'run_failed':
      case 'run_cancelled':
      case 'run_interrupted':
      case 'outcome_created':
      case 'outcome_fragment_attached':
      case 'outcome_fragment_reviewed':
      case 'outcome_finalized':
        this.#run.consume('team-progress')
        return true
      default:
        return false
    }
  }

  /** Ends all teammates, because the CLI has exited. */
  end(): void {
    for (const [id, member] of this.#members) if (member.state === 'working') this.#over(id, member, false)
  }

  #spawned(id: string, name: string | undefined): void {
    const member: Teammate = { name, state: 'ready' }
    this.#members.set(id, member)
    this.#run.note([orchestration('subagent_started', id, named(member))])
  }

  #began(id: string): void {
    const member = this.#member(id)
    const isReported = member.state === 'ready'
    member.state = 'working'
    if (isReported) this.#run.consume('team-progress')
    else this.#run.note([orchestration('subagent_started', id, named(member))])
  }

  #finished(id: string, event: JsonObject): void {
    this.#over(id, this.#member(id), taskSuccess(event))
  }

  #left(id: string): void {
    const member = this.#members.get(id)
    this.#members.delete(id)
    if (member?.state === 'working') this.#over(id, member, false)
    else if (member?.state === 'ready') this.#over(id, member, undefined)
    else this.#run.consume('team-progress')
  }

  #over(id: string, member: Teammate, isSuccess: boolean | undefined): void {
    member.state = 'idle'
    const action = isSuccess === false ? 'subagent_failed' : 'subagent_completed'
    const how = isSuccess === undefined ? {} : { isSuccess }
    this.#run.note([orchestration(action, id, { ...named(member), ...how })])
  }

  #member(id: string): Teammate {
    const known = this.#members.get(id)
    if (known !== undefined) return known
    const member: Teammate = { name: undefined, state: 'idle' }
    this.#members.set(id, member)
    return member
  }
}

function named({ name }: Teammate): { readonly subagentName?: string } {
  return name === undefined ? {} : { subagentName: name }
}

/** Versions without a status report the result or the error. */
function taskSuccess(event: JsonObject): boolean | undefined {
  const status = asText(event['status'])
  if (status !== undefined) return status === 'completed'
  if (event['error'] !== undefined && event['error'] !== null) return false
  const reason = asText(asObject(event['result'])?.['finishReason'])
  return reason === undefined ? undefined : reason === 'completed'
}
