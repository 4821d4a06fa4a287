import { isDeepStrictEqual } from 'node:util'
import type { Grants, Part, PermissionRules, ThreadState, ToolCallPart, ToolCallRequest } from '@evener/protocol'
import type { Explained, PermissionPolicy } from './policy-types.ts'

export interface RuntimePolicyOptions {
  /** The rules of the session that is bound to the thread. */
  readonly session?: () => PermissionRules
  /** What was granted besides the thread's own grants. */
  readonly grants?: () => Grants
  /** Also in doubt: calls of runs that are over, which the state does not hold. */
  readonly isInDoubt?: (call: ToolCallRequest) => boolean
  /** The tool is not what it was when it was allowed. */
  readonly hasDefinitionChanged?: (call: ToolCallRequest) => boolean
}

/**
 * A policy as a thread runtime asks it: the context comes from the state of the thread. Answers are not looked up here: the
 * runtime holds them against the call's hash after it has asked.
 */
export function runtimePolicy(
  policy: PermissionPolicy,
  options: RuntimePolicyOptions = {},
): (call: ToolCallRequest, state: ThreadState) => Explained {
  return (call, state) => {
    const { grants, rules, run, yolo } = state.head
    const session = options.session?.()
    const granted = options.grants?.()
    return policy.decide(call, {
      thread: rules,
      yolo,
      grants: granted === undefined ? grants : unite(grants, granted),
      inDoubt: options.isInDoubt?.(call) === true || wasInterrupted(call, state),
      definitionChanged: options.hasDefinitionChanged?.(call) === true,
      ...(session === undefined ? {} : { session }),
      ...(run === null ? {} : { run: run.rules }),
    })
  }
}

function unite(a: Grants, b: Grants): Grants {
  return { categories: [...a.categories, ...b.categories], tools: [...a.tools, ...b.tools] }
}

/** The same call was cut short in this run, and since then nobody has looked at it. */
export function wasInterrupted(call: ToolCallRequest, { messages }: ThreadState): boolean {
  let interrupted = false
  for (const { parts } of messages) {
    for (const part of parts.pick(telling, TELLING)) {
      if (part.toolName !== call.toolName || part.toolCallId === call.toolCallId) continue
      if (isDeepStrictEqual(part.args, call.args)) interrupted = part.call.outcome === 'in-doubt'
    }
  }
  return interrupted
}

/** Asked about every call of a step, which may have very many. */
const TELLING = new WeakMap<object, readonly ToolCallPart[]>()

function telling(part: Part): ToolCallPart | undefined {
  if (part.type !== 'tool-call') return undefined
  return part.call.outcome === 'in-doubt' || part.call.answer?.decision === 'approve' ? part : undefined
}
