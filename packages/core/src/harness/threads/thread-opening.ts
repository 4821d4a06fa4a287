import { resolveModel, type AgentContext, type RequestContext, type ToolContext } from '@inspan/agent'
import {
  InspanError,
  NO_RULES,
  type Grants,
  type JsonObject,
  type JsonValue,
  type PermissionRules,
} from '@inspan/protocol'
import type { RunnableTool, ThreadMemory, ToolRunContext } from '@inspan/protocol/driver'
import type { HarnessEvent } from '@inspan/protocol/harness'
import { defined } from '@inspan/protocol/internal'
import { type Door, type HandOff, handOffFact, type ThreadRuntime, type TurnContext } from '../../engine/index.ts'
import { effectiveRules } from '../../policy/effective-rules.ts'
import type { PermissionPolicy } from '../../policy/policy-types.ts'
import { addHarness } from '../harness-context.ts'
import type { HarnessCore } from '../harness-core.ts'
import type { SessionContext } from '../sessions/session-context.ts'
import type { ThreadGuest } from './open-threads.ts'
import { opinionEmitter, tracerSource } from '../runs/observability.ts'
import { runScoring } from '../runs/run-scorers.ts'
import { summaryBeforeRun } from '../signals/notifications.ts'
import { withChoice } from '../sessions/mode-change.ts'
import { ThreadControl, type ThreadControlOptions } from './thread-control.ts'
import { threadFiles } from './thread-files.ts'
import { importedFolder } from './native-imports.ts'
import { worktreeFolder } from './thread-worktree.ts'
import type { ChildDoor } from '../subagents/parent-thread.ts'
import { SubagentRuns } from '../subagents/subagent-runs.ts'
import type { ForeignPlanModes } from '../tools/foreign-plans.ts'
import { priceOf } from '../models/price-list.ts'
import { threadMemory } from '../thread-memory.ts'

/** The harness as a door to one thread, for the sessions bound to it. */
export interface HarnessDoor {
  readonly door: Door
  /** Called when the thread has been opened, before anything goes on in it. */
  begin(runtime: ThreadRuntime): void
  /** The control of the thread; only once it has begun. */
  control(): ThreadControl
  /** Stops all listening. */
  close(): void
  /** Resolves when nothing more is done for the thread in those of its subagents. */
  settled(): Promise<void>
}

/**
 * Returns the door of a harness to a thread, with the harness's agents, tools and rules. `child`: what is different in
 * the thread of a subagent.
 */
export function harnessDoor(
  core: HarnessCore,
  threadId: string,
  guests: ReadonlySet<ThreadGuest>,
  child?: ChildDoor,
  parentFolder: () => string | undefined = () => undefined,
): HarnessDoor {
  let open: { readonly runtime: ThreadRuntime; readonly control: ThreadControl } | undefined
  const opened = (): NonNullable<typeof open> => {
    if (open === undefined) throw new InspanError('misuse', `Thread ${threadId} is not open yet.`)
    return open
  }
  /** A subagent works where its parent does. */
  const worktree = (): string | undefined =>
    (open === undefined ? undefined : worktreeFolder(core, open.runtime.state)) ?? parentFolder()
  const stops: (() => void)[] = []
  const emit =
    child?.emit ?? ((event: HarnessEvent): void => sessionsOf(guests).forEach(({ binding }) => binding.emit(event)))
  const rules = child?.rules ?? ((): PermissionRules => rulesOf(guests))
  const grants = child?.grants ?? ((): Grants => grantsOf(guests))
  const context = (run: RunOfContext): RequestContext => contextOf(core, guests, emit, opened().runtime, run)
  const { disableBuiltinTools = [], subagents: definitions = [] } = core.config
  const subagents =
    definitions.length === 0 || disableBuiltinTools.includes('subagent')
      ? undefined
      : new SubagentRuns({
          core,
          threadId,
          guests,
          emit,
          rules,
          grants,
          runtime: () => opened().runtime,
          doorTo: (thread, options) => harnessDoor(core, thread, guests, options, worktree),
          notify: (notification) => opened().control.notifications.send(notification),
        })
  const delegating = subagents === undefined ? [] : [subagents.tool]
  let remembering: ThreadMemory | undefined
  const recalling = (): readonly RunnableTool[] =>
    disableBuiltinTools.includes('recall') ? [] : (remembering?.tools ?? [])
  const services = {
    decorate: (tool: ToolContext, run: ToolRunContext): ToolContext => ({ ...tool, requestContext: context(run) }),
    agentContext: (turn: TurnContext): AgentContext => ({
      threadId,
      runId: turn.runId,
      turnId: turn.turnId,
      requestContext: context(turn),
    }),
    prepare: (context: RequestContext, workspace?: object) => core.workspace.prepare(context, workspace),
    sources: (context: RequestContext) => core.workspace.sources(context, worktree()),
    browser: (context: RequestContext) => core.browser.source(context),
    cwd: (context: RequestContext) => core.workspace.folderOf(context, worktree()),
    ownFolder: () => worktree() ?? importedFolder(opened().runtime.state),
    builtinTools: () => [...(open?.control.tools() ?? []), ...delegating, ...recalling()],
    threadTool: (id: string) => open?.control.tool(id),
    keepSetting: async (key: string, value: JsonValue) => {
      await open?.runtime.record([{ type: 'config.changed', settings: { [key]: value } }])
    },
  }
  const { approvalTimeout, handoverTokens, id, keepWarm, observability, onInterrupted, parkAfter, redact, spool } =
    core.config
  const tracing = tracerSource(observability, (runId, traceId) => core.traces.note(runId, traceId))
  const memory = threadMemory(core, () => open?.runtime, emit)
  const door: Door = {
    door: child?.door ?? id,
    doorKey: child?.doorKey ?? core.doorKey,
    now: core.now,
    agents: child?.agents(services) ?? ((agentId) => core.agents.runtimeAgent(agentId, services)),
    agentOfQueued: (state) => core.agents.of(core.agents.modeOf(state)).id,
    policy: policyFor(() => core.policyIn(worktree())),
    newId: core.newId,
    withAnswer: (wait, answer) => open?.control.withAnswer(wait, answer) ?? [],
    withChoice: (change, state) => withChoice(core, change, state),
    beforeRun: (state) => summaryBeforeRun(state, core.newId),
    sessionRules: rules,
    grants,
    stopFollowing: async () => {
      await Promise.all([open?.control.stop(), open === undefined ? undefined : subagents?.endBackground()])
    },
    evict: async () => {
      // Who has the parent open stays there.
      if (child === undefined) for (const guest of guests) await guest.leave()
    },
    ...defined({ tracing, redact, spool, onInterrupted, approvalTimeout, parkAfter, keepWarm, handoverTokens }),
    ...(core.workspace.isConfigured
      ? { files: threadFiles(core, () => opened().runtime.state.head.lineage, worktree) }
      : {}),
    ...(memory === undefined ? {} : { memory: (thread) => (remembering = memory(thread)) }),
    windowOf: (model) => core.models.contextWindowOf(model),
    ...(core.agents.needPrices ? { priceOf: (model, usage) => priceOf(model, usage) } : {}),
  }
  return {
    door,
    begin: (runtime) => {
      const isOwnRun = (runId: string): boolean => runtime.isServedBy(door, runId)
      const control = controlThread(core, runtime, { emit, isOwnRun }, worktree)
      open = { runtime, control }
      const scoring = { scorers: core.scorers, runtime, port: control.port, threadId, emit, isOwnRun }
      stops.push(runtime.onEntry((entry) => core.contexts.follow(entry, isOwnRun)))
      stops.push(runtime.onEntry(runScoring(scoring)))
      if (subagents !== undefined) stops.push(subagents.follow(runtime, isOwnRun))
      if (observability !== undefined) stops.push(runtime.onEntry(opinionEmitter(observability, threadId, emit)))
    },
    control: () => opened().control,
    settled: async () => subagents?.settled(),
    close: () => {
      stops.forEach((stop) => stop())
      open?.control.close()
      subagents?.close()
      const { run } = open?.runtime.state.head ?? {}
      if (run !== undefined && run !== null) core.contexts.leave(run.runId)
    },
  }
}

/** A policy that is looked up for every call: a thread may get a worktree. */
function policyFor(current: () => PermissionPolicy): PermissionPolicy {
  return {
    decide: (call, context) => current().decide(call, context),
    grant: (call, scope, context) => current().grant(call, scope, context),
    check: (rules) => current().check(rules),
    rulesInForce: (context) => current().rulesInForce(context),
  }
}

function controlThread(
  core: HarnessCore,
  runtime: ThreadRuntime,
  { emit, isOwnRun }: Pick<ThreadControlOptions, 'emit' | 'isOwnRun'>,
  worktree: () => string | undefined,
): ThreadControl {
  const { disableBuiltinTools, notifications } = core.config
  return new ThreadControl({
    ...planModes(core, runtime),
    store: core.store,
    runtime,
    isOwnRun,
    door: core.doorKey,
    agentId: () => core.agents.of(core.agents.modeOf(runtime.state)).id,
    judgeModel: async (modelId) =>
      modelId === undefined ? undefined : ((await core.models.resolve(modelId)) ?? resolveModel(modelId)),
    emit,
    now: core.now,
    newId: core.newId,
    cwd: () => worktree() ?? core.workspace.folder() ?? process.cwd(),
    onFailure: (error) => emit({ type: 'error', error }),
    ...defined({ disabledTools: disableBuiltinTools, delivery: notifications }),
  })
}

/** Says which mode an approved plan leads to, and how a run gets there. */
function planModes(core: HarnessCore, runtime: ThreadRuntime): ForeignPlanModes {
  const entered: ForeignPlanModes['entered'] = (mode, settings) => {
    const change = withChoice(core, { mode, ...defined({ settings }) }, runtime.state)
    return { type: 'config.changed', ...change }
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
      // First, and without waiting: an agent that continues by itself must find that it no longer has the floor.
      if (to !== undefined) await runtime.handOff(to)
      await runtime.record([entered(modeId, settings)])
    },
  }
}

interface RunOfContext {
  readonly runId: string
  readonly requestContext?: JsonObject | undefined
  readonly signal?: AbortSignal
}

/** Returns the request context of a run, with the entry `harness` added. */
function contextOf(
  core: HarnessCore,
  guests: ReadonlySet<ThreadGuest>,
  emit: (event: HarnessEvent) => void,
  { state }: ThreadRuntime,
  run: RunOfContext,
): RequestContext {
  const context = core.contexts.of(run.runId, run.requestContext)
  const [first] = guests
  if (first === undefined) return context
  const sessions = sessionsOf(guests)
  const sender = core.contexts.senderOf(run.runId)
  // Of several sessions, the one whose message the run carries out.
  const session = sender !== undefined && sessions.includes(sender) ? sender : sessions[0]
  const { model, stream } = state.head
  addHarness(context, core, {
    session,
    resourceId: session?.identity.getResourceId() ?? first.resourceId(),
    threadId: stream,
    modeId: core.agents.modeOf(state).id,
    modelId: model ?? '',
    abortSignal: run.signal,
    emit,
  })
  return context
}

function sessionsOf(guests: ReadonlySet<ThreadGuest>): SessionContext[] {
  return [...guests].flatMap(({ session }) => session ?? [])
}

/** Returns the rules of all sessions bound to the thread. Any deny wins. */
function rulesOf(guests: ReadonlySet<ThreadGuest>): PermissionRules {
  // Mostly no session has rules, and this is asked in every turn.
  const stated = sessionsOf(guests).flatMap(({ rules }) => (rules.own === NO_RULES ? [] : [rules.own]))
  return stated.reduce((a, b) => effectiveRules({ session: a, thread: b }), NO_RULES)
}

function grantsOf(guests: ReadonlySet<ThreadGuest>): Grants {
  const all = sessionsOf(guests).map(({ grants }) => grants.own)
  return { categories: all.flatMap(({ categories }) => categories), tools: all.flatMap(({ tools }) => tools) }
}
