export { FaultInjected, faultPoints, faultPointsFromEnv } from './fault-points.ts'
export type { Fault, FaultAction, FaultPointsOptions, ReachedPoint, TestFaultPoints } from './fault-points.ts'
export { scriptedModel } from './scripted-model.ts'
export type { ModelRequest, ScriptedModel, ScriptedModelOptions } from './scripted-model.ts'
export { ScriptedHarnessFactory, type ScriptedHarnessOptions } from './scripted-harness.ts'
export { startProvider } from './provider/start-provider.ts'
export type { HttpRequest, Provider, ProviderOptions, ProviderRequest, RequestOutcome } from './provider/provider.ts'
export { WaitFailed } from './provider/watch.ts'
export { InvalidScript, QuoteNotFound, ScriptEnded, UnplayableTurn } from './script-errors.ts'
export type {
  Deltas,
  Script,
  ScriptedError,
  ScriptedFinishReason,
  ScriptedMetadata,
  ScriptedPart,
  ScriptedRaw,
  ScriptedReasoning,
  ScriptedRoute,
  ScriptedStreamError,
  ScriptedText,
  ScriptedToolCall,
  ScriptedTurn,
  ScriptedUsage,
  ScriptObject,
  ModelTurn,
} from './script.ts'
export { compare, report } from './benchmark.ts'
export type { BenchmarkResult, CompareOptions, Work } from './benchmark.ts'
export { GROWTH_LIMIT, memoryGrowth, timeGrowth, type MakeWork } from './growth.ts'
