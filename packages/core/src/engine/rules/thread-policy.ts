import { InspanError, NO_GRANTS, type Answer, type Grants, type PermissionRules, type Wait } from '@inspan/protocol'
import type { Decision, RunnableTool, ToolCallRequest } from '@inspan/protocol/driver'
import type { RecordBody, ThreadState } from '@inspan/protocol/log'
import { checkRules } from '../../policy/check-rules.ts'
import { effectiveRules } from '../../policy/effective-rules.ts'
import type { PolicyContext } from '../../policy/index.ts'
import { strictest } from '../../policy/strictness.ts'
import { callHash, definitionHash } from '../calls/call-hash.ts'
import { checkConfig } from '../checks/check-config.ts'
import { wasInterrupted } from '../calls/interrupted-before.ts'
import type { Doors } from '../threads/doors.ts'
import type { ConfigChange, ThreadRuntimeOptions } from '../thread-options.ts'
import { ResourceGrants, withoutGrants } from './resource-grants.ts'

const NO_RULE: Decision = { policy: 'allow', reason: 'no rule applies' }

const IN_DOUBT: Decision = {
  policy: 'ask',
  reason: 'the same call was interrupted before, and nobody knows whether it had its effect',
}

/** Adds the category and origin of the tool to a call. */
export type Describe = (call: ToolCallRequest) => ToolCallRequest

type RulesInMemory = Pick<ConfigChange, 'rules' | 'grants' | 'yolo'>

/** Decides calls by the rules of a thread, and handles an "always". */
export class ThreadPolicy {
  readonly #doors: Doors
  readonly #state: () => ThreadState
  /** Changes that are not on disk yet. They apply from the moment they were made. */
  #unwritten: readonly RulesInMemory[] = []
  /** Known once a turn began or somebody asked. */
  #resource: ResourceGrants | undefined

  constructor(doors: Doors, state: () => ThreadState) {
    this.#doors = doors
    this.#state = state
  }

  get #options(): ThreadRuntimeOptions {
    return this.#doors.current(this.#state())
  }

  /** `isFromBefore`: ordered from a process that died before starting it. The rules its run started with apply too. */
  decide(
    call: ToolCallRequest,
    agentId: string,
    tool: RunnableTool | undefined,
    { isFromBefore = false }: { readonly isFromBefore?: boolean } = {},
  ): Decision {
    const { decide, policy } = this.#options
    const state = this.#now()
    const { inDoubt: doubts, run, yolo } = state.head
    const decisions: Decision[] = []
    const isDoubted = (): boolean => doubts.includes(callHash(agentId, call, tool))
    const inDoubt = (doubts.length > 0 && isDoubted()) || wasInterrupted(call, state)
    const definitionChanged = hasChanged(state, tool)
    if (policy === undefined) {
      // Whether to do something twice is no question of permission: it is asked even without rules.
      if (!yolo && inDoubt) decisions.push(IN_DOUBT)
      else if (!yolo && definitionChanged) decisions.push(changed(call.toolName))
    } else {
      const context: PolicyContext = { ...this.#context(this.#options, tool), inDoubt, definitionChanged }
      decisions.push(policy.decide(call, context))
      if (isFromBefore && run !== null) decisions.push(policy.decide(call, { ...context, alone: run.rules }))
    }
    if (decide !== undefined) decisions.push(decide(call, state))
    for (const door of this.#doors.watching(state)) decisions.push(...this.#denied(call, door, state))
    const [first = NO_RULE, ...others] = decisions
    return strictest(first, ...others)
  }

  /** Returns what a door that only watches denies. It allows nothing and asks about nothing. */
  #denied(call: ToolCallRequest, door: ThreadRuntimeOptions, state: ThreadState): Decision[] {
    const decisions = [door.policy?.decide(call, this.#context(door)), door.decide?.(call, state)]
    return decisions.filter((decision) => decision !== undefined).filter(({ policy }) => policy === 'deny')
  }

  /** Returns the rules in force as one set, which is recorded with every run and is the minimum for foreign agents. */
  rulesInForce(door: ThreadRuntimeOptions = this.#options): PermissionRules {
    const own = this.#rulesOf(door)
    const others = this.#doors.all.filter((each) => each !== door)
    return others.reduce((rules, other) => effectiveRules({ thread: rules, run: this.#rulesOf(other) }), own)
  }

  #rulesOf(door: ThreadRuntimeOptions): PermissionRules {
    return door.policy === undefined ? this.#now().head.rules : door.policy.rulesInForce(this.#context(door))
  }

  /** Throws if the change is invalid, or a rule contradicts its own examples. */
  check(change: ConfigChange): void {
    checkConfig(change)
    const { policy } = this.#options
    if (change.rules === undefined) return
    if (policy === undefined) checkRules(change.rules)
    else policy.check(change.rules)
  }

  /** Applies a change at once, until the returned function is called after the write. */
  announce(change: ConfigChange): () => void {
    this.check(change)
    const { grants, rules, yolo } = change
    const inMemory: RulesInMemory = {
      ...(rules === undefined ? {} : { rules }),
      ...(grants === undefined ? {} : { grants }),
      ...(yolo === undefined ? {} : { yolo }),
    }
    this.#unwritten = [...this.#unwritten, inMemory]
    return () => {
      this.#unwritten = this.#unwritten.filter((other) => other !== inMemory)
    }
  }

  /**
   * Reads the grants of the resource again, which other threads and processes may have changed. Returns whether more or
   * less may be allowed since. Without rules there is nothing they would allow.
   */
  async refresh(): Promise<boolean> {
    if (this.#options.policy === undefined) return false
    const isFirst = this.#resource === undefined
    const resource = await this.#grantsOfResource()
    return (await resource.refresh()) || isFirst
  }

  /** Returns what to record with an answer that applies to later calls too. Grants of the resource are then on record. */
  async remember(
    wait: Wait,
    { remember = 'tool', scope = 'thread' }: Pick<Answer, 'remember' | 'scope'>,
    { by, tool }: { readonly by: string | undefined; readonly tool: RunnableTool | undefined },
    describe: Describe,
  ): Promise<RecordBody[]> {
    const { policy } = this.#options
    const { args = {}, toolCallId = wait.id, toolName } = wait.subject
    if (policy === undefined || toolName === undefined) return []
    const call = describe({ toolCallId, toolName, args })
    const context = this.#context()
    const own = this.#now().head.grants
    const result = policy.grant(call, remember, { ...context, grants: own })
    if (!result.granted) {
      const text = `The answer counts for this call only: ${result.reason}.`
      return [{ type: 'note', kind: 'warning', text, data: { waitId: wait.id, code: 'not-remembered' } }]
    }
    if (scope === 'thread') return [{ type: 'config.changed', grants: result.grants }]
    const change = (grants: Grants): Grants => {
      const granted = policy.grant(call, remember, { ...context, grants })
      return granted.granted ? granted.grants : grants
    }
    await this.#write(change, by, remember === 'tool' ? tool : undefined)
    return []
  }

  /** Takes back what was allowed for the resource: a tool, a category, or everything. */
  revoke(what: Parameters<typeof withoutGrants>[1], by: string | undefined): Promise<void> {
    return this.#write((grants) => withoutGrants(grants, what), by)
  }

  async #write(change: (grants: Grants) => Grants, by: string | undefined, tool?: RunnableTool): Promise<void> {
    const { now = Date.now, owner } = this.#options
    const resource = await this.#grantsOfResource()
    await resource.write({ owner, now, change, tool, ...(by === undefined ? {} : { by }) })
  }

  async #grantsOfResource(): Promise<ResourceGrants> {
    const { store, thread } = this.#options
    if (this.#resource !== undefined) return this.#resource
    const info = await store.getThread(thread)
    if (info === null) throw new InspanError('not-found', `There is no thread ${thread}.`)
    this.#resource = ResourceGrants.of(store, info.resourceId)
    return this.#resource
  }

  #now(): ThreadState {
    const state = this.#state()
    if (this.#unwritten.length === 0) return state
    return { ...state, head: Object.assign({}, state.head, ...this.#unwritten) as ThreadState['head'] }
  }

  #context(door = this.#options, tool?: RunnableTool): PolicyContext {
    const { grants, rules, run, yolo } = this.#now().head
    const session = door.sessionRules?.()
    const all = [grants, door.grants?.() ?? NO_GRANTS, this.#resource?.grantsFor(tool) ?? NO_GRANTS]
    return {
      thread: rules,
      yolo,
      grants: {
        tools: all.flatMap(({ tools }) => tools),
        categories: all.flatMap(({ categories }) => categories),
      },
      ...(session === undefined ? {} : { session }),
      ...(run === null ? {} : { run: run.rules }),
    }
  }
}

function changed(toolName: string): Decision {
  return { policy: 'ask', reason: `${toolName} is not the tool it was when it was allowed` }
}

/** Whether the definition of a tool has changed since it was allowed. */
function hasChanged(state: ThreadState, tool: RunnableTool | undefined): boolean {
  if (tool === undefined) return false
  const known = state.head.definitions.get(tool.name)
  return known !== undefined && known.hash !== definitionHash(tool)
}
