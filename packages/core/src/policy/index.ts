export { checkRules } from './check-rules.ts'
export { createPolicy } from './create-policy.ts'
export { effectiveRules, type RulesByLevel } from './effective-rules.ts'
export { mergeRules } from './merge-rules.ts'
export type {
  Explained,
  GrantResult,
  PathTool,
  PermissionPolicy,
  PolicyContext,
  PolicyOptions,
  PolicyStep,
  RuleLevel,
  ShellTool,
  ToolSubjects,
} from './policy-types.ts'
export { isStricter, strictest } from './strictness.ts'
