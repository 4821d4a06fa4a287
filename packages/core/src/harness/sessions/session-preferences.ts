import { resolveModel, type LanguageModel } from '@inspan/agent'
import { aText } from '@inspan/protocol/internal'
import { givenFields } from '../checks/check-given.ts'
import { MEMORY_SETTINGS, thresholdOf, type MemoryRoleName } from '../observational-memory.ts'
import type { SessionContext } from './session-context.ts'

/** The observer or the reflector of memory: its model, and the number of tokens from which on it works. */
export class MemoryRole {
  readonly #session: SessionContext
  readonly #role: MemoryRoleName

  constructor(session: SessionContext, role: MemoryRoleName) {
    this.#session = session
    this.#role = role
  }

  modelId(): string | undefined {
    const { model, modelOption } = MEMORY_SETTINGS[this.#role]
    return this.#session.settings.text(model) ?? this.#session.core.config.omConfig?.[modelOption]
  }

  threshold(): number {
    const { core, settings } = this.#session
    const chosen = thresholdOf(this.#role, (key) => settings.get(key), core.config.omConfig)
    return chosen ?? MEMORY_SETTINGS[this.#role].defaultThreshold
  }

  /** Returns the model at once if `resolveModel` of the harness does. */
  resolvedModel(): LanguageModel | undefined | Promise<LanguageModel | undefined> {
    const modelId = this.modelId()
    if (modelId === undefined) return undefined
    const { resolveModel: own } = this.#session.core.config
    return own === undefined ? this.#load(modelId) : own(modelId)
  }

  async #load(modelId: string): Promise<LanguageModel> {
    return (await this.#session.core.models.resolve(modelId)) ?? resolveModel(modelId)
  }

  async switchModel(options: { readonly modelId: string }): Promise<void> {
    const { modelId } = givenFields(options, `om.${this.#role}.switchModel({ modelId })`, { modelId: aText })
    await this.#session.settings.set(MEMORY_SETTINGS[this.#role].model, modelId)
    this.#session.binding.emit({ type: 'om_model_changed', role: this.#role, modelId })
  }
}

export interface SessionMemory {
  readonly observer: MemoryRole
  readonly reflector: MemoryRole
}

export function sessionMemory(session: SessionContext): SessionMemory {
  return { observer: new MemoryRole(session, 'observer'), reflector: new MemoryRole(session, 'reflector') }
}

/** The model of subagents: of one type, or of all types without one of their own. */
export class SubagentModel {
  readonly #session: SessionContext

  constructor(session: SessionContext) {
    this.#session = session
  }

  get(options: { readonly agentType?: string } = {}): string | null {
    const { agentType } = givenFields(options, 'subagents.model.get({ agentType? })', {}, { agentType: aText })
    const own = agentType === undefined ? undefined : this.#session.settings.text(subagentKey(agentType))
    return own ?? this.#session.settings.text(subagentKey(undefined)) ?? null
  }

  async set(options: { readonly modelId: string; readonly agentType?: string }): Promise<void> {
    const call = 'subagents.model.set({ modelId })'
    const { agentType, modelId } = givenFields(options, call, { modelId: aText }, { agentType: aText })
    await this.#session.settings.set(subagentKey(agentType), modelId)
    const typed = agentType === undefined ? {} : { agentType }
    this.#session.binding.emit({ type: 'subagent_model_changed', modelId, scope: 'thread', ...typed })
  }
}

function subagentKey(agentType: string | undefined): string {
  return agentType === undefined ? 'subagentModelId' : `subagentModelId_${agentType}`
}
