import { InspanError, type FinishReason, type JsonObject, type JsonValue, type UsageMetadata } from '@inspan/protocol'
import { unlessAborted } from '@inspan/protocol/internal'
import type { LanguageModelV4Prompt } from '@ai-sdk/provider'
import type { AgentContext } from './agent-context.ts'
import { toJson } from './to-json.ts'
import type { TurnStep } from './turn-step.ts'

export interface HookedCall {
  readonly toolCallId: string
  readonly toolName: string
  readonly input: JsonObject
  readonly context: AgentContext
}

/** `undefined`: the call continues. `input`: with this input. `decline`: it is not made, and the model gets the reason. */
export type BeforeTool = undefined | { readonly input: JsonObject } | { readonly decline: string }

/** `undefined`: the result stays. Otherwise this is recorded and shown instead. */
export type AfterTool = undefined | { readonly result: JsonValue; readonly isError?: boolean }

/**
 * Callbacks of the application in the course of a turn. If one throws, what it was called for fails with its error; one
 * that never ends is abandoned when the run is cancelled.
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
  /** Called before an approval is asked for, so that what is approved is what runs. */
  readonly beforeTool?: (call: HookedCall) => MaybePromise<BeforeTool | void>
  readonly afterTool?: (
    call: HookedCall & { readonly result: JsonValue; readonly isError: boolean },
  ) => MaybePromise<AfterTool | void>
}

type MaybePromise<T> = T | Promise<T>

/** Calls a hook; `undefined` without one. Rejects with a clear error if it throws, and when the run is cancelled. */
export async function callHook<Name extends keyof LoopHooks>(
  hooks: LoopHooks,
  name: Name,
  argument: Parameters<NonNullable<LoopHooks[Name]>>[0],
  signal: AbortSignal,
): Promise<Awaited<ReturnType<NonNullable<LoopHooks[Name]>>> | undefined> {
  const hook = hooks[name] as ((argument: unknown) => unknown) | undefined
  if (hook === undefined) return undefined
  let returned: unknown
  try {
    returned = await unlessAborted(signal, started(hook, argument))
  } catch (error) {
    if (signal.aborted) throw error
    const message = error instanceof Error ? error.message : String(error)
    throw new InspanError('misuse', `The hook ${name} failed: ${message}`, { cause: error })
  }
  return checked(name, returned) as Awaited<ReturnType<NonNullable<LoopHooks[Name]>>>
}

function checked(name: keyof LoopHooks, returned: unknown): BeforeTool | AfterTool {
  if (name === 'beforeTool') return checkedBeforeTool(returned)
  return name === 'afterTool' ? checkedAfterTool(returned) : checkedNothing(name, returned)
}

/** Throws for any other value: a call whose hook cannot be understood is not run. */
function checkedBeforeTool(given: unknown): BeforeTool {
  if (given === undefined) return undefined
  if (isObject(given)) {
    if ('decline' in given && typeof given['decline'] === 'string') return { decline: given['decline'] }
    const input = toJson(given['input'])
    if (!('decline' in given) && isObject(input.value) && input.isExact) return { input: input.value }
  }
  throw badReturn('beforeTool', given, 'nothing, { input } with an object of JSON, or { decline } with a reason')
}

/** Throws for any other value: a result that perhaps had to be hidden is not shown. */
function checkedAfterTool(given: unknown): AfterTool {
  if (given === undefined) return undefined
  if (isObject(given) && given['result'] !== undefined) {
    const result = toJson(given['result'])
    const { isError } = given
    if (result.isExact && isError === undefined) return { result: result.value }
    if (result.isExact && typeof isError === 'boolean') return { result: result.value, isError }
  }
  throw badReturn('afterTool', given, 'nothing, or { result, isError? } with a result that is JSON')
}

function checkedNothing(name: string, given: unknown): undefined {
  if (given !== undefined) throw badReturn(name, given, 'nothing')
  return undefined
}

function isObject(value: unknown): value is { readonly [key: string]: unknown } {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

function badReturn(name: string, given: unknown, wanted: string): InspanError {
  const kind = given === null ? 'null' : Array.isArray(given) ? 'an array' : `a value of type ${typeof given}`
  const found = isObject(given) ? `an object with [${Object.keys(given).join(', ')}]` : kind
  return new InspanError('misuse', `The hook ${name} returned ${found}. It has to return ${wanted}.`)
}

/** Async, so that a hook that throws synchronously rejects. */
async function started(hook: (argument: unknown) => unknown, argument: unknown): Promise<unknown> {
  return hook(argument)
}
