import { toErrorData, type AgentEvent } from '@inspan/protocol'
import type { Host, ToolOutcome } from '@inspan/protocol/driver'
import type { AgentContext } from './agent-context.ts'
import { callHook, type AfterTool, type HookedCall, type LoopHooks } from './hooks.ts'
import type { OrderedCall } from './model-answer.ts'
import type { StepToolResult } from './turn-step.ts'

interface CarriedOut {
  readonly call: OrderedCall
  readonly outcome: ToolOutcome
  readonly changedInput: OrderedCall['args'] | undefined
}

/** The run was cancelled before the call had a result; whoever ends the turn records how it ended. */
type CutOff = undefined

export interface CarryOut {
  readonly host: Host
  readonly hooks: LoopHooks
  readonly context: AgentContext
  readonly signal: AbortSignal
}

/** Carries out all calls of a step at once; yields results in the order in which they end. */
export async function* carryOut(
  calls: readonly OrderedCall[],
  options: CarryOut,
): AsyncGenerator<AgentEvent, StepToolResult[]> {
  const ended: (CarriedOut | CutOff)[] = []
  let oneMore = Promise.withResolvers<void>()
  for (const call of calls) {
    // Never rejects: a failure is an outcome.
    void callTool(call, options).then((carried) => {
      ended.push(carried)
      oneMore.resolve()
    })
  }
  const results: StepToolResult[] = []
  let reported = 0
  while (reported < calls.length) {
    if (reported === ended.length) await oneMore.promise
    oneMore = Promise.withResolvers<void>()
    for (const carried of ended.slice(reported)) {
      reported++
      if (carried === undefined) continue
      yield resultEvent(carried)
      const { toolCallId, toolName } = carried.call
      const { isError = false, result } = carried.outcome
      results.push({ toolCallId, toolName, result, isError })
    }
  }
  return results
}

const BROKEN_INPUT: ToolOutcome = {
  result: 'The input was not a JSON object, so the tool was not run. Send the call again with valid input.',
  isError: true,
}

async function callTool(call: OrderedCall, { context, hooks, host, signal }: CarryOut): Promise<CarriedOut | CutOff> {
  if (call.isBroken === true) return { call, outcome: BROKEN_INPUT, changedInput: undefined }
  let changedInput: OrderedCall['args'] | undefined
  try {
    const { toolCallId, toolName } = call
    const asked: HookedCall = { toolCallId, toolName, input: call.args, context }
    const before = await callHook(hooks, 'beforeTool', asked, signal)
    if (before !== undefined && 'decline' in before) {
      return { call, outcome: { result: `The call was declined: ${before.decline}`, isError: true }, changedInput }
    }
    changedInput = before?.input
    const input = changedInput ?? call.args
    const outcome = await host.callTool({ toolCallId, toolName, args: input })
    const { isError = false, result } = outcome
    const after = await afterTool({ ...asked, input, result, isError }, hooks, signal)
    return { call, outcome: after ?? outcome, changedInput }
  } catch (error) {
    if (signal.aborted) return undefined
    // If a hook fails, the result is not shown: the hook may have wanted to hide it.
    const data = toErrorData(error)
    return { call, outcome: { result: data.message, isError: true, error: data }, changedInput }
  }
}

/**
 * Calls the hook. If a cancel cuts it off, the result is not shown, because the hook has not said what may be shown.
 * That the tool has run is recorded for the process that continues later.
 */
async function afterTool(
  call: Parameters<NonNullable<LoopHooks['afterTool']>>[0],
  hooks: LoopHooks,
  signal: AbortSignal,
): Promise<AfterTool> {
  try {
    return (await callHook(hooks, 'afterTool', call, signal)) ?? undefined
  } catch (error) {
    if (signal.aborted) return { result: HOOK_CUT_OFF, isError: call.isError }
    throw error
  }
}

const HOOK_CUT_OFF =
  'The tool has run. Its result is not shown: the run was cancelled before the hook afterTool had seen it.'

/** Returns the event of a result. `modelOutput` is kept with it, because the next request is made from the log. */
function resultEvent({ call, changedInput, outcome: { modelOutput, ...outcome } }: CarriedOut): AgentEvent {
  const meta = {
    ...(modelOutput === undefined ? {} : { modelOutput }),
    ...(changedInput === undefined ? {} : { input: changedInput }),
  }
  return {
    type: 'tool-result',
    toolCallId: call.toolCallId,
    toolName: call.toolName,
    ...outcome,
    ...(Object.keys(meta).length === 0 ? {} : { meta }),
  }
}
