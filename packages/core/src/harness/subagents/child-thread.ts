import { InspanError } from '@inspan/protocol'
import type { Budget, ToolRunContext } from '@inspan/protocol/driver'
import type { Store, ThreadInfo } from '@inspan/protocol/store'
import { createThread, forkThread, type NewThread, recordsAfter, type ThreadLog } from '../../engine/index.ts'
import type { HarnessCore } from '../harness-core.ts'
import type { ThreadGuest } from '../threads/open-threads.ts'
import { shareOf } from './child-budget.ts'
import { childMetadata, childNoteOf, childRunOf, type ChildNote } from './child-note.ts'
import { ToolRefusal } from '../tools/tool-input.ts'
import type { SubagentOrder } from './subagent-tool.ts'

const DEFAULT_DEPTH = 3
const DEFAULT_CONCURRENT = 8

export interface ChildRequest {
  readonly core: HarnessCore
  /** The log of the parent's thread, within a command of its own. */
  readonly log: ThreadLog
  readonly guests: ReadonlySet<ThreadGuest>
  readonly child: string
  readonly order: SubagentOrder
  readonly context: ToolRunContext
  /** How many subagents work below the same root. */
  readonly atWork: number
}

export interface PreparedChild {
  readonly info: ThreadInfo
  readonly note: ChildNote
}

/** Finds or creates the thread of a call and records in the parent that the subagent works. Safe to repeat. */
export async function prepareChild(request: ChildRequest): Promise<PreparedChild> {
  const { child, context, core, log } = request
  const { store } = core
  const known = await store.getThread(child)
  const info = known ?? (await create(request))
  const note = childNoteOf(info.metadata)
  if (note === undefined) throw new InspanError('corrupt', `Thread ${child} is not that of a subagent.`)
  const isLinked = log.state.head.children.has(child)
  if (!isLinked && (known === null || !(await hasEnded(store, log, child)))) {
    const { agentId } = note
    const background = note.background === true ? { background: true as const } : {}
    const link = { thread: child, runId: childRunOf(child), agentId, toolCallId: context.toolCallId, ...background }
    await log.commit([{ type: 'child.started', child: link }], { run: context.runId, turn: context.turnId })
  }
  return { info, note }
}

/** Whether the parent recorded the end before its process died: it must not count the usage twice. */
async function hasEnded(store: Store, log: ThreadLog, child: string): Promise<boolean> {
  await log.flush()
  const after = log.state.head.run?.startedSeq ?? 0
  for await (const { body } of recordsAfter(store, log.stream, after)) {
    if (body.type === 'child.ended' && body.thread === child) return true
  }
  return false
}

async function create(request: ChildRequest): Promise<ThreadInfo> {
  const { child, context, core, log, order } = request
  const { store } = core
  const parent = await store.getThread(log.stream)
  const above = childNoteOf(parent?.metadata ?? {})
  const depth = (above?.depth ?? 0) + 1
  const { concurrent = DEFAULT_CONCURRENT } = core.config.subagentLimits ?? {}
  if (request.atWork >= concurrent) {
    throw new ToolRefusal(`${concurrent} subagents work already, which is the limit. Wait for one of them.`)
  }
  const max = core.config.subagentLimits?.depth ?? DEFAULT_DEPTH
  if (depth > max) throw new ToolRefusal(`Subagents may be nested ${max} deep. Do this task yourself.`)
  const budget = await shareOf(store, log.state, budgetOf(core, log, above))
  if (Object.values(budget ?? {}).includes(0)) {
    throw new ToolRefusal('The budget of this run leaves nothing for another subagent.')
  }
  const { background, definition, forked, task } = order
  if (background && above !== undefined) {
    throw new ToolRefusal('A subagent cannot start others in the background. Call it without "background".')
  }
  const note: ChildNote = {
    agentType: definition.id,
    task,
    modelId: modelFor(request),
    agentId: forked ? context.agentId : (definition.agent?.id ?? definition.id),
    depth,
    forked,
    ...(background ? { background } : {}),
    parentRun: context.runId,
    ...(budget === undefined ? {} : { budget }),
  }
  const thread: NewThread = {
    id: child,
    resourceId: parent?.resourceId ?? core.config.resourceId ?? core.config.id,
    title: `${forked ? 'Fork: ' : ''}${definition.name} subagent`,
    hidden: true,
    parent: log.stream,
    parentCall: context.toolCallId,
    root: parent?.root ?? log.stream,
    now: core.now(),
    metadata: childMetadata(note, log.stream),
  }
  return forked ? fork(request, thread) : createThread(store, thread)
}

/** Forks where the step began that made the call: the fork's first request begins with that step's request. */
async function fork({ core, log }: ChildRequest, thread: NewThread): Promise<ThreadInfo> {
  await log.flush()
  const { head } = log.state
  const step = await core.store.latestRecord(head.lineage, 'step.started', head.seq)
  if (step === null || head.run === null || step.seq <= head.run.startedSeq) {
    throw new ToolRefusal('This agent cannot be forked. Call the subagent with "forked": false.')
  }
  const { grants, yolo } = head
  return forkThread(core.store, await core.threads.owner(), log.state, { ...thread, at: step.seq, grants, yolo })
}

function modelFor({ core, log, order: { definition, forked, modelId }, guests }: ChildRequest): string {
  const { head } = log.state
  const current = head.model ?? ''
  if (forked) return current
  const [chosen] = [...guests].flatMap(
    ({ session }) => session?.subagents.model.get({ agentType: definition.id }) ?? [],
  )
  const given = modelId ?? chosen ?? definition.defaultModelId
  // An agent of the definition has a model of its own.
  if (given !== undefined || definition.agent !== undefined) return given ?? ''
  return current === '' ? (core.agents.modeOf(log.state).defaultModelId ?? '') : current
}

function budgetOf(core: HarnessCore, log: ThreadLog, above: ChildNote | undefined): Budget | undefined {
  const ofRun = log.state.head.run?.turn?.budget
  return ofRun ?? (above === undefined || above.forked ? core.agents.budgetOf(log.state) : undefined)
}
