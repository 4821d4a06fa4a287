import { InspanError, NO_RULES, type PermissionRules, type Policy } from '@inspan/protocol'
import type { HarnessEvent } from '@inspan/protocol/harness'
import { MemoryStore } from '@inspan/stores'
import { SEARCH_TOOLS } from '@inspan/tools'
import { splitState } from './sessions/control-keys.ts'
import { createPolicy } from '../policy/create-policy.ts'
import type { PermissionPolicy } from '../policy/policy-types.ts'
import { effectiveRules } from '../policy/effective-rules.ts'
import { withKnownTools, withRenamedTools } from '../policy/known-tools.ts'
import { HarnessSources } from './agents/harness-sources.ts'
import { BrowserSlot } from './agents/browser-slot.ts'
import { defaultModeOf } from './checks/check-config.ts'
import type { HarnessConfig } from './harness-config.ts'
import type { HarnessRuntime } from './harness-runtime.ts'
import type { HarnessCore } from './harness-core.ts'
import { ModeAgents } from './agents/mode-agents.ts'
import { ModelCatalogue } from './models/model-catalogue.ts'
import { newHarnessId } from './new-id.ts'
import { OpenThreads } from './threads/open-threads.ts'
import { RunContexts } from './agents/run-contexts.ts'
import { RunTraces } from './runs/run-traces.ts'
import { BUILTIN_TOOL_IDS } from './tools/builtin-tools.ts'
import { WorkspaceSlot } from './agents/workspace-slot.ts'

export interface CoreHooks {
  readonly ready: () => Promise<void>
  /** Emits an event in every session. */
  readonly broadcast: (event: HarnessEvent) => void
  /** Returns `undefined` until the harness is ready. */
  readonly runtime: () => HarnessRuntime | undefined
}

let harnesses = 0

/** Builds what the sessions of a harness share from its configuration. Starts nothing. */
export function buildCore(config: HarnessConfig, hooks: CoreHooks): HarnessCore {
  const store = config.storage ?? new MemoryStore()
  const models = new ModelCatalogue({
    ...config,
    onFailure: (error) => hooks.broadcast({ type: 'error', error, errorType: 'model-catalogue' }),
  })
  const contexts = new RunContexts(config.restoreRequestContext)
  const now = Date.now
  const { toolCategoryResolver } = config
  const workspace = new WorkspaceSlot(config.workspace, hooks.broadcast, hooks.runtime)
  const subjects = {
    ...withRenamedTools(workspace.toolNames()),
    toolCategory: (toolName: string) => toolCategoryResolver?.(toolName) ?? workspace.categoryOf(toolName),
  }
  const cwd = workspace.folder()
  const sources = new HarnessSources(config, (message) => hooks.broadcast({ type: 'info', message }))
  const policies = new Map<string | undefined, PermissionPolicy>()
  const policyIn = (folder: string | undefined): PermissionPolicy => {
    const known = policies.get(folder)
    if (known !== undefined) return known
    const place = folder === undefined ? {} : { cwd: folder }
    const made = createPolicy({ rules: standingRules(config), ...subjects, ...place })
    policies.set(folder, made)
    return made
  }
  let threads: OpenThreads | undefined
  const core: HarnessCore = {
    config,
    store,
    get threads() {
      return (threads ??= new OpenThreads(core))
    },
    doorKey: `${config.id}#${++harnesses}`,
    models,
    agents: new ModeAgents(config, models, contexts, store, sources),
    policy: policyIn(cwd),
    policyIn: (folder = cwd) => policyIn(folder),
    givenRules: givenRules(config),
    sources,
    workspace,
    browser: new BrowserSlot(config.browser),
    defaultMode: defaultModeOf(config),
    contexts,
    traces: new RunTraces(),
    scorers: new Map(),
    newId: config.idGenerator ?? ((): string => newHarnessId(now())),
    now,
    ready: hooks.ready,
    findMode: (modeId) => {
      const mode = config.modes.find(({ id }) => id === modeId)
      if (mode !== undefined) return mode
      const known = config.modes.map(({ id }) => id).join(', ')
      throw new InspanError('not-found', `There is no mode "${modeId}".`, { hint: `Known: ${known}.` })
    },
    categoryOf: withKnownTools(subjects).toolCategory,
  }
  return core
}

/**
 * Returns the harness's rules. Built-in tools only ask or take notes, so they need no approval unless a rule requires it.
 */
function standingRules(config: HarnessConfig): PermissionRules {
  const { toolSearch } = config
  const given = givenRules(config)
  const free = Object.fromEntries(
    [...BUILTIN_TOOL_IDS, ...(toolSearch === undefined ? [] : [SEARCH_TOOLS])].map((id): [string, Policy] => [
      id,
      'allow',
    ]),
  )
  return { ...given, tools: { ...free, ...given.tools } }
}

/** Returns the rules that the program gave, without those for built-in tools. */
function givenRules({ initialState, permissions }: HarnessConfig): PermissionRules {
  const harness: PermissionRules = { ...NO_RULES, ...permissions }
  // Programs may also give rules in the initial state of every session.
  const { permissionRules } = splitState(initialState ?? {}).control
  return permissionRules === undefined ? harness : effectiveRules({ harness, session: permissionRules })
}
