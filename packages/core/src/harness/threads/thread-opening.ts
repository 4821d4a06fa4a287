import { resolveModel, type AgentContext, type RequestContext, type ToolContext } from '@inspan/agent'
import { InspanError, NO_RULES, type Grants, type JsonObject, type PermissionRules } from '@inspan/protocol'
import type { ToolRunContext } from '@inspan/protocol/driver'
import type { HarnessEvent } from '@inspan/protocol/harness'
import type { TurnContext } from '../../engine/turns/active-run.ts'
import type { ProcessOwner } from '../../engine/threads/ownership.ts'
import { handOffFact, unheardFacts } from '../../engine/runs/run-queue.ts'
import type { HandOff } from '../../engine/thread-options.ts'
import { ThreadRuntime } from '../../engine/thread-runtime.ts'
import { effectiveRules } from '../../policy/effective-rules.ts'
import { addHarness } from '../harness-context.ts'
import type { HarnessCore, ThreadViewer } from '../harness-core.ts'
import { opinionTeller, tracerSource } from '../runs/observability.ts'
import { openInAll, tellOtherHarnesses } from './other-harnesses.ts'
import type { Opening } from './open-threads.ts'
import { runScoring } from '../runs/run-scorers.ts'
import { summaryBeforeRun } from '../signals/notifications.ts'
import { modeChange, modeModelKey } from '../sessions/session-mode.ts'
import { ThreadControl } from './thread-control.ts'
import { threadFiles } from './thread-files.ts'
import type { ForeignPlanModes } from '../tools/foreign-plans.ts'
import { priceOf } from '../models/price-list.ts'
import { threadMemory } from '../thread-memory.ts'

/** Opens a thread for the sessions bound to it, with the harness's agents, tools and rules. */
export async function openThread(
  core: HarnessCore,
  threadId: string,
  owner: ProcessOwner,
  viewers: ReadonlySet<ThreadViewer>,
  opening: Opening,
): Promise<ThreadRuntime> {
  let runtime: ThreadRuntime | undefined
  let control: ThreadControl | undefined
  const equipment = {
    decorate: (context: ToolContext, run: ToolRunContext): ToolContext => ({
      ...context,
      requestContext: contextOf(core, viewers, runtime as ThreadRuntime, run),
    }),
    agentContext: (turn: TurnContext): AgentContext => ({
      threadId,
      runId: turn.runId,
      turnId: turn.turnId,
      requestContext: contextOf(core, viewers, runtime as ThreadRuntime, turn),
    }),
    prepare: (context: RequestContext) => core.workspace.prepare(context),
    sources: (context: RequestContext) => core.workspace.sources(context),
    cwd: (context: RequestContext) => core.workspace.folderOf(context),
    builtinTools: () => control?.tools() ?? [],
    threadTool: (id: string) => control?.tool(id),
  }
  const { approvalTimeout, handoverTokens, keepWarm, observability, onInterrupted, parkAfter, redact } = core.config
  const tracing = tracerSource(observability, (runId, traceId) => core.traces.note(runId, traceId))
  const emit = (event: HarnessEvent): void => viewers.forEach((viewer) => viewer.emit(event))
  /** Called before anything goes on in the thread, so that nobody misses anything. */
  const onTaken = async (taken: ThreadRuntime): Promise<void> => {
    runtime = taken
    // They are told of what comes from here on, so they must first catch up on what another process wrote before.
    for (const other of openInAll(core.store, threadId)) await other.follow(taken.state.head.seq)
    endings.set(taken, tellOtherHarnesses(core.store, threadId, taken))
    taken.onEntry((entry) => core.contexts.follow(entry))
    if (observability !== undefined) taken.onEntry(opinionTeller(observability, threadId, emit))
    control = controlThread(core, taken, emit)
    controls.set(taken, control)
    taken.onEntry(runScoring({ scorers: core.scorers, runtime: taken, port: control.port, threadId, emit }))
    opening.begin(taken)
  }
  const memory = threadMemory(core, () => runtime, emit)
  try {
    return await ThreadRuntime.open(
      {
        store: core.store,
        owner,
        thread: threadId,
        now: core.now,
        agents: (agentId) => core.agents.runtimeAgent(agentId, equipment),
        agentOfQueued: (state) => core.agents.of(core.agents.modeOf(state)).id,
        policy: core.policy,
        newId: core.newId,
        withAnswer: (wait, answer) => control?.withAnswer(wait, answer) ?? [],
        beforeRun: (state) => [...unheardFacts(state, core.newId), ...summaryBeforeRun(state, core.newId)],
        ...(core.workspace.isConfigured
          ? { files: threadFiles(core, () => (runtime as ThreadRuntime).state.head.lineage) }
          : {}),
        sessionRules: () => rulesOf(viewers),
        grants: () => grantsOf(viewers),
        ...(tracing === undefined ? {} : { tracing }),
        ...(redact === undefined ? {} : { redact }),
        ...(onInterrupted === undefined ? {} : { onInterrupted }),
        ...(approvalTimeout === undefined ? {} : { approvalTimeout }),
        ...(parkAfter === undefined ? {} : { parkAfter }),
        ...(keepWarm === undefined ? {} : { keepWarm }),
        ...(handoverTokens === undefined ? {} : { handoverTokens }),
        ...(memory === undefined ? {} : { memory }),
        windowOf: (model) => core.models.contextWindowOf(model),
        ...(core.agents.haveMoneyLimit ? { priceOf: (model, usage) => priceOf(model, usage) } : {}),
      },
      onTaken,
    )
  } catch (error) {
    if (runtime !== undefined) leaveThread(runtime)
    throw error
  }
}

const controls = new WeakMap<ThreadRuntime, ThreadControl>()
const endings = new WeakMap<ThreadRuntime, () => void>()

/** Called when the thread is closed: stops all listening to it. */
export function leaveThread(runtime: ThreadRuntime): void {
  endings.get(runtime)?.()
  controls.get(runtime)?.close()
}

/** Returns the control of an open thread. */
export function controlOf(runtime: ThreadRuntime): ThreadControl {
  const control = controls.get(runtime)
  if (control === undefined) throw new InspanError('misuse', 'The thread was not opened by a harness.')
  return control
}

/** Stops what would follow from ended runs of the thread, in all harnesses of this process. */
export async function stopFollowing(core: HarnessCore, runtime: ThreadRuntime): Promise<void> {
  const open = openInAll(core.store, runtime.state.head.stream)
  await Promise.all(open.map(async (each) => controls.get(each)?.stop()))
}

function controlThread(core: HarnessCore, runtime: ThreadRuntime, emit: (event: HarnessEvent) => void): ThreadControl {
  const { disableBuiltinTools, notifications } = core.config
  return new ThreadControl({
    ...planModes(core, runtime),
    store: core.store,
    runtime,
    agentId: () => core.agents.of(core.agents.modeOf(runtime.state)).id,
    judgeModel: async (modelId) =>
      modelId === undefined ? undefined : ((await core.models.resolve(modelId)) ?? resolveModel(modelId)),
    emit,
    now: core.now,
    newId: core.newId,
    cwd: () => core.workspace.folder() ?? process.cwd(),
    onFailure: (error) => emit({ type: 'error', error }),
    ...(disableBuiltinTools === undefined ? {} : { disabledTools: disableBuiltinTools }),
    ...(notifications === undefined ? {} : { delivery: notifications }),
  })
}

/** Says which mode an approved plan leads to, and how a run gets there. */
function planModes(core: HarnessCore, runtime: ThreadRuntime): ForeignPlanModes {
  const entered: ForeignPlanModes['entered'] = (modeId, settings) => {
    const { model, settings: before } = runtime.state.head
    const from = core.agents.modeOf(runtime.state)
    const mode = core.findMode(modeId)
    const current = { modeId: from.id, modelId: model ?? '' }
    const change = mode.id === from.id ? {} : modeChange(mode, current, (id) => textOf(before.get(modeModelKey(id))))
    return { type: 'config.changed', ...change, settings: { ...change.settings, ...settings } }
  }
  const handOff = (modeId: string, order: string): HandOff | undefined => {
    const mode = core.config.modes.find(({ id }) => id === modeId)
    // It may have been recorded by a program with other modes.
    if (mode === undefined) return undefined
    const agentId = core.agents.of(mode).id
    if (agentId === runtime.state.head.run?.agentId) return undefined
    return { agentId, input: [{ id: '0', type: 'text', text: order }] }
  }
  return {
    planTarget: () => core.agents.modeOf(runtime.state).transitionsTo ?? core.defaultMode.id,
    entered,
    handedOff: (modeId, order) => {
      const { run } = runtime.state.head
      const to = handOff(modeId, order)
      return run === null || to === undefined ? [] : [handOffFact(run, to)]
    },
    switchMode: async (modeId, order, settings) => {
      const to = handOff(modeId, order)
      // First, and without waiting: an agent that goes on by itself must find that it no longer has the floor.
      if (to !== undefined) await runtime.handOff(to)
      await runtime.record([entered(modeId, settings)])
    },
  }
}

/** Returns the request context of a run, with the entry `harness` added. */
function contextOf(
  core: HarnessCore,
  viewers: ReadonlySet<ThreadViewer>,
  { state }: ThreadRuntime,
  run: {
    readonly runId: string
    readonly requestContext?: JsonObject | undefined
    readonly signal?: AbortSignal
  },
): RequestContext {
  const context = core.contexts.of(run.runId, run.requestContext)
  const [first] = viewers
  const sender = core.contexts.senderOf(run.runId)
  // Of several sessions, the one whose message the run carries out.
  const viewer = sender !== undefined && viewers.has(sender) ? sender : first
  if (viewer === undefined) return context
  const { model, stream } = state.head
  const place = { threadId: stream, modeId: core.agents.modeOf(state).id, modelId: model ?? '' }
  addHarness(context, core, viewer, run.signal === undefined ? place : { ...place, abortSignal: run.signal }, viewers)
  return context
}

/** Returns the rules of all sessions bound to the thread. Any deny wins. */
function rulesOf(viewers: ReadonlySet<ThreadViewer>): PermissionRules {
  // Mostly no session has rules, and this is asked in every turn.
  const stated = [...viewers].map((viewer) => viewer.rules()).filter((rules) => rules !== NO_RULES)
  return stated.reduce((a, b) => effectiveRules({ session: a, thread: b }), NO_RULES)
}

function grantsOf(viewers: ReadonlySet<ThreadViewer>): Grants {
  const all = [...viewers].map((viewer) => viewer.grants())
  return { categories: all.flatMap(({ categories }) => categories), tools: all.flatMap(({ tools }) => tools) }
}

function textOf(value: unknown): string | undefined {
  return typeof value === 'string' && value !== '' ? value : undefined
}
