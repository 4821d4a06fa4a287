import type { RequestContext } from '@inspan/agent'
import type { HarnessCore, ThreadViewer } from './harness-core.ts'
import { outsideEvent } from './events/outside-event.ts'
import type { HarnessRequestContext } from './agents/request-context.ts'

/** The thread, mode and model that a request context is made for. */
export interface RequestPlace {
  readonly threadId: string | null
  readonly modeId: string
  readonly modelId: string
  readonly abortSignal?: AbortSignal
}

/** Adds the entry `harness` to a request context. `heard`: the viewers that receive the events emitted through it. */
export function addHarness(
  context: RequestContext,
  core: HarnessCore,
  viewer: ThreadViewer,
  { abortSignal, modeId, modelId, threadId }: RequestPlace,
  heard: Iterable<ThreadViewer> = [viewer],
): void {
  const { userState } = viewer
  let browser: Promise<object | undefined> | undefined
  const entry: HarnessRequestContext = {
    harnessId: core.config.id,
    state: userState.get(),
    getState: () => userState.get(),
    setState: (changes) => userState.set(changes),
    updateState: (change) => userState.update(change),
    threadId,
    resourceId: viewer.resourceId(),
    session: { modeId, modelId, state: userState },
    ...(abortSignal === undefined ? {} : { abortSignal }),
    // A getter: a workspace that a function makes for the run is made after this entry.
    get workspace() {
      return core.workspace.of(context)
    },
    getBrowser: () => (browser ??= core.browser.resolve(context)),
    emitEvent: (event) => {
      const told = outsideEvent(event)
      for (const each of heard) each.emit(told)
    },
    getSubagentModelId: (options) => viewer.subagentModelId(options?.agentType),
  }
  context.set('harness', entry)
}
