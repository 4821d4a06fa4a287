import { RequestContext } from '@inspan/agent'
import { InspanError, type JsonObject } from '@inspan/protocol'
import type { HarnessEvent } from '@inspan/protocol/harness'
import { isFields } from '../checks/check-given.ts'
import type { StateShape } from '../harness-config.ts'
import type { UserState } from '../harness-core.ts'
import type { HarnessWorkspace } from './workspace-slot.ts'

/** What a caller passes along with a message, for tools and subagents to find. */
export type RequestContextInput = RequestContext | ReadonlyMap<string, unknown> | Readonly<Record<string, unknown>>

/**
 * Rebuilds values that no record can hold from the recorded part of a request context. Its entries override the
 * recorded ones.
 */
export type RestoreRequestContext = (recorded: JsonObject) => RequestContextInput

/** The entry `harness` of a request context, for tools and for functions that make something for a request. */
export interface HarnessRequestContext {
  readonly harnessId: string
  /** The state when the context was made; `getState` returns the present one. */
  readonly state: StateShape
  readonly getState: () => StateShape
  readonly setState: (changes: StateShape) => Promise<void>
  readonly updateState: UserState['update']
  readonly threadId: string | null
  readonly resourceId: string
  readonly session: { readonly modeId: string; readonly modelId: string; readonly state: UserState }
  /** The signal of the call; only for tools. */
  readonly abortSignal?: AbortSignal
  readonly workspace?: HarnessWorkspace | undefined
  /** Returns the browser of the harness. One that a function makes is made once per call. */
  readonly getBrowser: () => Promise<object | undefined>
  readonly emitEvent: (event: HarnessEvent) => void
  readonly getSubagentModelId: (options?: { readonly agentType?: string }) => string | null
}

/** Returns a copy, so that entries added later are not shared. */
export function requestContextOf(input: RequestContextInput | undefined): RequestContext {
  if (input === undefined) return new RequestContext()
  if (input instanceof RequestContext || input instanceof Map) return new RequestContext(input.entries())
  // A promise has no fields: everything in the context would be missing without an error.
  if (isFields(input) && !(input instanceof Promise)) return new RequestContext(Object.entries(input))
  throw new InspanError(
    'invalid-input',
    '`requestContext` must be a RequestContext, a Map or an object, and no promise.',
  )
}
