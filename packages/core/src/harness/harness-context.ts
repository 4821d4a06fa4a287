import type { RequestContext } from '@inspan/agent'
import { InspanError } from '@inspan/protocol'
import type { HarnessEvent } from '@inspan/protocol/harness'
import type { HarnessCore, UserState } from './harness-core.ts'
import type { SessionContext } from './sessions/session-context.ts'
import { outsideEvent } from './events/outside-event.ts'
import type { HarnessRequestContext } from './agents/request-context.ts'

/** What a request context is made for. */
export interface RequestPlace {
  /** Absent when only a server has the thread open. */
  readonly session: SessionContext | undefined
  readonly resourceId: string
  readonly threadId: string | null
  readonly modeId: string
  readonly modelId: string
  readonly abortSignal?: AbortSignal | undefined
  readonly emit: (event: HarnessEvent) => void
}

const NO_STATE: UserState = {
  get: () => ({}),
  set: async () => {
    throw new InspanError('unsupported', 'A thread that only a server has open has no application state.', {
      hint: 'Open the thread in a session, too.',
    })
  },
  update: async (change) => change({}).result,
}

/** Adds the entry `harness` to a request context. */
export function addHarness(context: RequestContext, core: HarnessCore, place: RequestPlace): void {
  const { abortSignal, emit, modeId, modelId, resourceId, session, threadId } = place
  const state: UserState = session?.state ?? NO_STATE
  let browser: Promise<object | undefined> | undefined
  const entry: HarnessRequestContext = {
    harnessId: core.config.id,
    state: state.get(),
    getState: () => state.get(),
    setState: (changes) => state.set(changes),
    updateState: (change) => state.update(change),
    threadId,
    resourceId,
    session: { modeId, modelId, state },
    ...(abortSignal === undefined ? {} : { abortSignal }),
    // A getter: a workspace that a function makes for the run is made after this entry.
    get workspace() {
      return core.workspace.of(context)
    },
    getBrowser: () => (browser ??= core.browser.resolve(context)),
    emitEvent: (event) => emit(outsideEvent(event)),
    getSubagentModelId: (options) => session?.subagents.model.get(options) ?? null,
  }
  context.set('harness', entry)
}
