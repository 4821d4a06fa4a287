export { nativeDriver, type LanguageModel, type NativeDriverOptions } from '@evener/agent'
export { MemoryStore } from './stores/memory-store.ts'
export { SqliteStore, type SqliteStoreOptions } from './stores/sqlite-store.ts'
export {
  checkRules,
  createPolicy,
  effectiveRules,
  mergeRules,
  nativeDenies,
  runtimePolicy,
  type Explained,
  type GrantResult,
  type NativeDenies,
  type NativeShellDeny,
  type PathTool,
  type PermissionPolicy,
  type PolicyContext,
  type PolicyOptions,
  type PolicyStep,
  type RuleLevel,
  type RulesByLevel,
  type RuntimePolicyOptions,
  type ShellTool,
  type ToolSubjects,
} from './policy/index.ts'
