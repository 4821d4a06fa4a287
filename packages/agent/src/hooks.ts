import { EvenerError, type FinishReason, type JsonObject, type JsonValue, type UsageMetadata } from '@evener/protocol'
import type { LanguageModelV4Prompt } from '@ai-sdk/provider'
import type { AgentContext } from './agent-context.ts'
import type { TurnStep } from './turn-step.ts'

export interface HookedCall {
  readonly toolCallId: string
  readonly toolName: string
  readonly input: JsonObject
  readonly context: AgentContext
}

/** Nothing: as it is. `input`: with this instead. `decline`: not at all, and the model is told why. */
export type BeforeTool = undefined | { readonly input: JsonObject } | { readonly decline: string }

/** Nothing: as it is. Else this is recorded and shown instead. */
export type AfterTool = undefined | { readonly result: JsonValue; readonly isError?: boolean }

/**
 * What an agent's owner wants to see and say in the course of a turn. One that throws fails what it was called for, and
 * says so; one that never ends is left behind when the run is cancelled.
 */
export interface LoopHooks {
  readonly beforeTurn?: (turn: { readonly context: AgentContext }) => MaybePromise<void>
  readonly afterTurn?: (turn: {
    readonly context: AgentContext
    readonly finishReason: FinishReason
    readonly usage: UsageMetadata
    readonly steps: readonly TurnStep[]
  }) => MaybePromise<void>
  readonly beforeStep?: (step: {
    readonly context: AgentContext
    readonly stepIndex: number
    readonly prompt: LanguageModelV4Prompt
  }) => MaybePromise<void>
  readonly afterStep?: (step: { readonly context: AgentContext; readonly step: TurnStep }) => MaybePromise<void>
  /** Before anybody is asked for approval: what is approved is what runs. */
  readonly beforeTool?: (call: HookedCall) => MaybePromise<BeforeTool | void>
  readonly afterTool?: (
    call: HookedCall & { readonly result: JsonValue; readonly isError: boolean },
  ) => MaybePromise<AfterTool | void>
}

type MaybePromise<T> = T | Promise<T>

/** Calls a hook, or gives `undefined`. Rejects with a clear error when it throws, and when the run is cancelled. */
export async function callHook<Name extends keyof LoopHooks>(
  hooks: LoopHooks,
  name: Name,
  argument: Parameters<NonNullable<LoopHooks[Name]>>[0],
  signal: AbortSignal,
): Promise<Awaited<ReturnType<NonNullable<LoopHooks[Name]>>> | undefined> {
  const hook = hooks[name] as ((argument: unknown) => unknown) | undefined
  if (hook === undefined) return undefined
  const aborted = Promise.withResolvers<never>()
  const onAbort = (): void => aborted.reject(new EvenerError('closed', 'The run was cancelled.'))
  if (signal.aborted) onAbort()
  else signal.addEventListener('abort', onAbort, { once: true })
  try {
    return (await Promise.race([started(hook, argument), aborted.promise])) as Awaited<
      ReturnType<NonNullable<LoopHooks[Name]>>
    >
  } catch (error) {
    if (signal.aborted) throw error
    const message = error instanceof Error ? error.message : String(error)
    throw new EvenerError('misuse', `The hook ${name} failed: ${message}`, { cause: error })
  } finally {
    signal.removeEventListener('abort', onAbort)
    aborted.promise.catch(() => undefined)
  }
}

/** A hook that throws at once fails like one that throws later. */
async function started(hook: (argument: unknown) => unknown, argument: unknown): Promise<unknown> {
  return hook(argument)
}
