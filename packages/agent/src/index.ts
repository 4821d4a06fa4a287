export { Agent, type AgentInput, type AgentOptions } from './agent.ts'
export { agentContext, type AgentContext, type Dynamic } from './agent-context.ts'
export { askModel } from './ask-model.ts'
export { embedWith } from './embed-with.ts'
export { createTool, type Tool, type ToolOptions } from './create-tool.ts'
export { checkAgainst, schemaProblems, type SchemaProblems } from './json-schema-check.ts'
export type { LanguageModel } from './language-model.ts'
export type { AfterTool, BeforeTool, HookedCall, LoopHooks } from './hooks.ts'
export { nativeDriver, type ModelSettings, type NativeDriverOptions } from './native-driver.ts'
export { toPrompt } from './prompt.ts'
export { RequestContext } from './request-context.ts'
export { resolveModel, type ModelInput, type ResolveModel } from './resolve-model.ts'
export {
  asRunnable,
  checkTools,
  runnableTool,
  runnableTools,
  type ToolInput,
  type ToolsInput,
} from './runnable-tool.ts'
export type { PlainTool } from './plain-tool.ts'
export type { RetryOptions } from './retry.ts'
export type { Infer, SchemaInput } from './schema.ts'
export type { OutputOptions } from './structured-output.ts'
export { toJson } from './to-json.ts'
export type { DecorateContext, SuspendOptions, ToolContext } from './tool-context.ts'
export { hasToolCall, stepCountIs, type StepToolResult, type StopCondition, type TurnStep } from './turn-step.ts'
