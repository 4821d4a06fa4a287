import type { HarnessConfig, HarnessMode, HarnessSubagent } from '../harness-config.ts'

/** Every option name, so that the compiler reports one that is missing here. */
type Names<Options extends object> = { readonly [Name in keyof Options]-?: true }

const CONFIG: Names<HarnessConfig> = {
  id: true,
  resourceId: true,
  storage: true,
  stateSchema: true,
  initialState: true,
  memory: true,
  modes: true,
  agent: true,
  defaultModeId: true,
  instructions: true,
  tools: true,
  toolSources: true,
  mcpServers: true,
  mcp: true,
  consumerTools: true,
  skills: true,
  skillSearch: true,
  rules: true,
  project: true,
  toolSearch: true,
  workspace: true,
  browser: true,
  subagents: true,
  resolveModel: true,
  omConfig: true,
  disableBuiltinTools: true,
  heartbeatHandlers: true,
  idGenerator: true,
  modelAuthChecker: true,
  modelUseCountProvider: true,
  modelUseCountTracker: true,
  customModelCatalogProvider: true,
  gateways: true,
  toolCategoryResolver: true,
  pubsub: true,
  threadLock: true,
  observability: true,
  notifications: true,
  permissions: true,
  redact: true,
  restoreRequestContext: true,
  onInterrupted: true,
  approvalTimeout: true,
  parkAfter: true,
  keepWarm: true,
  handoverTokens: true,
  spool: true,
}

const MODE: Names<HarnessMode> = {
  id: true,
  name: true,
  default: true,
  defaultModelId: true,
  description: true,
  instructions: true,
  transitionsTo: true,
  metadata: true,
  tools: true,
  additionalTools: true,
  toolSources: true,
  agent: true,
  budget: true,
}

const SUBAGENT: Names<HarnessSubagent> = {
  id: true,
  name: true,
  description: true,
  instructions: true,
  tools: true,
  allowedHarnessTools: true,
  allowedWorkspaceTools: true,
  defaultModelId: true,
  maxSteps: true,
  stopWhen: true,
  forked: true,
}

export const CONFIG_NAMES: readonly string[] = Object.keys(CONFIG)
export const MODE_NAMES: readonly string[] = Object.keys(MODE)
export const SUBAGENT_NAMES: readonly string[] = Object.keys(SUBAGENT)
