import type { PermissionRules, ToolCategory } from '@inspan/protocol'
import type { Store } from '@inspan/protocol/store'
import type { PermissionPolicy } from '../policy/policy-types.ts'
import type { BrowserSlot } from './agents/browser-slot.ts'
import type { HarnessConfig, HarnessMode, StateShape } from './harness-config.ts'
import type { HarnessSources } from './agents/harness-sources.ts'
import type { ModeAgents } from './agents/mode-agents.ts'
import type { ModelCatalogue } from './models/model-catalogue.ts'
import type { OpenThreads } from './threads/open-threads.ts'
import type { RunContexts } from './agents/run-contexts.ts'
import type { RunTraces } from './runs/run-traces.ts'
import type { Scorer } from './runs/run-scorers.ts'
import type { WorkspaceSlot } from './agents/workspace-slot.ts'

/** The application's own state, as tools may read and change it. */
export interface UserState {
  get(): StateShape
  set(changes: StateShape): Promise<void>
  update<Result>(
    change: (state: StateShape) => { readonly updates?: StateShape; readonly result: Result },
  ): Promise<Result>
}

/** What all sessions of a harness share. */
export interface HarnessCore {
  readonly config: HarnessConfig
  readonly store: Store
  readonly threads: OpenThreads
  /** How submissions name this harness: several harnesses of a process may have one id. */
  readonly doorKey: string
  readonly agents: ModeAgents
  readonly sources: HarnessSources
  readonly models: ModelCatalogue
  readonly policy: PermissionPolicy
  /** Returns the policy for threads that work in another folder than that of the workspace. */
  policyIn(folder: string | undefined): PermissionPolicy
  /** The rules in the configuration, without those for built-in tools. */
  readonly givenRules: PermissionRules
  readonly workspace: WorkspaceSlot
  readonly browser: BrowserSlot
  readonly defaultMode: HarnessMode
  readonly contexts: RunContexts
  readonly traces: RunTraces
  readonly scorers: Map<string, Scorer>
  readonly newId: () => string
  readonly now: () => number
  /** Resolves when the harness can be used. */
  ready(): Promise<void>
  findMode(modeId: string): HarnessMode
  categoryOf(toolName: string): ToolCategory | null
}
