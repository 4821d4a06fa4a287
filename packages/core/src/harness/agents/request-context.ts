import { RequestContext } from '@evener/agent'
import { EvenerError, type HarnessEvent, type JsonObject } from '@evener/protocol'
import { isFields } from '../checks/check-given.ts'
import type { HarnessState } from '../harness-config.ts'
import type { UserState } from '../harness-core.ts'
import type { HarnessWorkspace } from './workspace-slot.ts'

/** What a caller passes along with a message, for tools and subagents to find. */
export type RequestContextInput = RequestContext | ReadonlyMap<string, unknown> | Readonly<Record<string, unknown>>

/** Makes of what was recorded of a request's context what no record can hold; its entries go over the recorded ones. */
export type RestoreRequestContext = (recorded: JsonObject) => RequestContextInput

/** What tools, and functions that make something for a request, find in its context under `harness`. */
export interface HarnessRequestContext {
  readonly harnessId: string
  /** The state when it was asked for; `getState` gives what holds now. */
  readonly state: HarnessState
  readonly getState: () => HarnessState
  readonly setState: (changes: HarnessState) => Promise<void>
  readonly updateState: UserState['update']
  readonly threadId: string | null
  readonly resourceId: string
  readonly session: { readonly modeId: string; readonly modelId: string; readonly state: UserState }
  /** Of the call, for tools. */
  readonly abortSignal?: AbortSignal
  readonly workspace?: HarnessWorkspace | undefined
  /** That of the harness; one that is made for a request is made once for the call. */
  readonly getBrowser: () => Promise<object | undefined>
  readonly emitEvent: (event: HarnessEvent) => void
  readonly getSubagentModelId: (options?: { readonly agentType?: string }) => string | null
}

/** A copy: what is added to it later is nobody else's. */
export function requestContextOf(input: RequestContextInput | undefined): RequestContext {
  if (input === undefined) return new RequestContext()
  if (input instanceof RequestContext || input instanceof Map) return new RequestContext(input.entries())
  // A promise has no fields: all that was meant would be missing, and nobody would know.
  if (isFields(input) && !(input instanceof Promise)) return new RequestContext(Object.entries(input))
  throw new EvenerError(
    'invalid-input',
    '`requestContext` must be a RequestContext, a Map or an object, and no promise.',
  )
}
