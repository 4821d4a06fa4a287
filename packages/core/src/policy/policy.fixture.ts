import type { JsonObject, PatternRule, PermissionRules, Policy } from '@inspan/protocol'
import type { ToolCallRequest } from '@inspan/protocol/driver'
import { createPolicy, type Explained, type PolicyContext, type PolicyOptions } from './index.ts'

type Patterns = Readonly<Record<Policy, readonly string[]>>

/** Rules for the shell tool, given as pattern texts. */
export function shellRules(patterns: Partial<Patterns>, more: Partial<PermissionRules> = {}): PermissionRules {
  const rules = (policy: Policy): PatternRule[] =>
    (patterns[policy] ?? []).map((pattern) => ({ tool: 'execute_command', pattern, policy }))
  return {
    categories: {},
    tools: {},
    ...more,
    patterns: [...rules('allow'), ...rules('ask'), ...rules('deny'), ...(more.patterns ?? [])],
  }
}

export function toolCall(
  toolName: string,
  args: JsonObject = {},
  more: Partial<ToolCallRequest> = {},
): ToolCallRequest {
  return { toolCallId: 'call-1', toolName, args, ...more }
}

export function shellCall(command: string): ToolCallRequest {
  return toolCall('execute_command', { command })
}

/** Returns the decision about a command under the rules of a harness. */
export function judgeShell(command: string, rules: PermissionRules, context: PolicyContext = {}): Explained {
  return policyFor(rules).decide(shellCall(command), context)
}

export function policyFor(rules: PermissionRules, more: PolicyOptions = {}): ReturnType<typeof createPolicy> {
  return createPolicy({ rules, cwd: '/repo', home: '/home/me', ...more })
}
