export { createPolicy } from './create-policy.ts'
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
