import { RequestContext } from '@inspan/agent'
import { InspanError, NO_GRANTS, type Grants, type PermissionRules } from '@inspan/protocol'
import type { ToolRunContext } from '@inspan/protocol/driver'
import type { HarnessEvent } from '@inspan/protocol/harness'
import { asError, defined } from '@inspan/protocol/internal'
import { type RuntimeAgent, ThreadRegistry, type ThreadRuntime } from '../../engine/index.ts'
import { effectiveRules } from '../../policy/effective-rules.ts'
import type { HarnessSubagent } from '../harness-config.ts'
import { childRunOf } from './child-note.ts'
import { ChildQuestions } from './child-questions.ts'
import type { PreparedChild } from './child-thread.ts'
import { forkedAgent } from './forked-agent.ts'
import { subagentAgent } from './subagent-agent.ts'
import { SubagentRelay } from './subagent-relay.ts'
import type { HarnessDoor } from '../threads/thread-opening.ts'
import type { ParentThread } from './parent-thread.ts'

/** The thread of a subagent while it is open in this process: its parent's listeners hear of it, its questions too. */
export class OpenChild {
  readonly prepared: PreparedChild
  readonly relay: SubagentRelay
  readonly #parent: ParentThread
  readonly #door: HarnessDoor
  readonly #stops: (() => void)[] = []
  #opened: { readonly runtime: ThreadRuntime; readonly questions: ChildQuestions } | undefined

  private constructor(parent: ParentThread, definition: HarnessSubagent, prepared: PreparedChild, toolCallId: string) {
    const { info, note } = prepared
    const { core, emit, runtime } = parent
    this.prepared = prepared
    this.#parent = parent
    const { agentType } = note
    this.relay = new SubagentRelay({ toolCallId, agentType, emit, startedAt: info.createdAt })
    const forkOf = (agent: RuntimeAgent | undefined): RuntimeAgent | undefined =>
      agent && forkedAgent(agent, core.store, info.forkedFrom?.at ?? 0)
    this.#door = parent.doorTo(info.id, {
      door: `${core.config.id}/subagents`,
      doorKey: `${core.doorKey}/subagents`,
      agents: (services) => {
        if (note.forked) return (agentId) => forkOf(core.agents.runtimeAgent(agentId, services))
        const parentAgent = core.agents.of(core.agents.modeOf(runtime().state))
        return { [note.agentId]: subagentAgent({ core, definition, note, services, parentAgent }) }
      },
      rules: () => inheritedRules(parent),
      grants: () => inheritedGrants(parent),
      emit: (event) => {
        // Memory of the subagent's thread is none of the parent's.
        if (event.type.startsWith('om_')) return
        emit(isOfSubagent(event) ? { ...event, parentToolCallId: pathTo(toolCallId, event) } : event)
      },
    })
  }

  static async enter(
    parent: ParentThread,
    definition: HarnessSubagent,
    prepared: PreparedChild,
    toolCallId: string,
  ): Promise<OpenChild> {
    const child = new OpenChild(parent, definition, prepared, toolCallId)
    await child.#enter(definition.name)
    return child
  }

  get runtime(): ThreadRuntime {
    if (this.#opened === undefined) throw new InspanError('closed', 'The thread of the subagent is not open.')
    return this.#opened.runtime
  }

  get isOver(): boolean {
    const { lastRun, run } = this.runtime.state.head
    return run === null && lastRun !== null
  }

  /** Gives the subagent its task, unless it has it already. */
  async begin({ requestContext, runId }: ToolRunContext): Promise<void> {
    const { core } = this.#parent
    const { runtime } = this
    const { info, note } = this.prepared
    if (runtime.state.head.run !== null || runtime.state.head.lastRun !== null) return
    const messageId = `${info.id}-task`
    const given = new RequestContext(core.contexts.of(runId, requestContext).entries())
    given.delete('harness')
    core.contexts.keep(messageId, given)
    const { doorKey } = this.#door.door
    try {
      await runtime.submit({
        agentId: note.agentId,
        parts: [{ id: '0', type: 'text', text: note.task }],
        messageId,
        runId: childRunOf(info.id),
        ...defined({ door: doorKey, requestContext }),
        ...(note.budget === undefined ? {} : { turn: { budget: note.budget } }),
      })
    } catch (error) {
      core.contexts.drop(messageId)
      throw error
    }
  }

  /** Resolves when the run of the subagent is over. */
  async ended(): Promise<void> {
    while (!this.isOver) {
      const changed = Promise.withResolvers<void>()
      const stop = this.runtime.onEntry((entry) => {
        if (entry.kind === 'record' && entry.record.body.type === 'run.ended') changed.resolve()
      })
      await changed.promise.finally(stop)
    }
    await this.#opened?.questions.withdraw()
  }

  async leave(): Promise<void> {
    this.#stops.splice(0).forEach((stop) => stop())
    await this.#opened?.questions.close()
    const { id } = this.prepared.info
    await this.#registry.leave(id, this.#door.door).finally(() => this.#door.close())
    await this.#door.settled()
  }

  get #registry(): ThreadRegistry {
    return ThreadRegistry.of(this.#parent.core.store)
  }

  async #enter(name: string): Promise<void> {
    const { core, emit, runtime: parent } = this.#parent
    const { info, note } = this.prepared
    const runtime = await this.#registry.enter(info.id, this.#door.door, async (opened) => {
      this.#door.begin(opened)
      this.#stops.push(
        opened.onEntry((entry) => this.relay.entry(entry)),
        this.#followYolo(opened),
      )
      const { yolo } = parent().state.head
      if (opened.state.head.yolo !== yolo) await opened.configure({ yolo })
    })
    const onError = (error: unknown): void => {
      if (InspanError.is(error, 'closed')) return
      emit({ type: 'error', error: asError(error) })
    }
    const questions = new ChildQuestions({ core, parent: parent(), child: runtime, name, note, onError })
    this.#opened = { runtime, questions }
  }

  /** A subagent is asked whenever its parent is. */
  #followYolo(child: ThreadRuntime): () => void {
    return this.#parent.runtime().onEntry((entry) => {
      if (entry.kind !== 'record' || entry.record.body.type !== 'config.changed') return
      const { yolo } = entry.record.body
      if (yolo !== undefined) child.configure({ yolo }).catch(() => undefined)
    })
  }
}

/** All rules of the parent hold for its subagents, those of its sessions and its run included. */
function inheritedRules({ rules, runtime }: ParentThread): PermissionRules {
  const { head } = runtime().state
  return effectiveRules({ session: rules(), thread: head.rules, ...(head.run === null ? {} : { run: head.run.rules }) })
}

/** A subagent is allowed nothing that its parent may not do. */
function inheritedGrants({ grants, runtime }: ParentThread): Grants {
  const all = [runtime().state.head.grants, grants()]
  if (all.every(({ categories, tools }) => categories.length + tools.length === 0)) return NO_GRANTS
  return { categories: all.flatMap(({ categories }) => categories), tools: all.flatMap(({ tools }) => tools) }
}

type OfSubagent = Extract<HarnessEvent, { readonly type: `subagent_${string}`; readonly toolCallId: string }>

function isOfSubagent(event: HarnessEvent): event is OfSubagent {
  return event.type.startsWith('subagent_') && 'toolCallId' in event
}

function pathTo(toolCallId: string, { parentToolCallId }: OfSubagent): string {
  return parentToolCallId === undefined ? toolCallId : `${toolCallId}/${parentToolCallId}`
}
