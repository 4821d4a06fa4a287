import { resolveModel, type LanguageModel } from '@inspan/agent'
import { givenFields, givenText, optionalText } from '../checks/check-given.ts'
import type { SessionContext } from './session-context.ts'

interface RoleFacts {
  readonly role: 'observer' | 'reflector'
  readonly modelKey: string
  readonly thresholdKey: string
  readonly threshold: number
}

/** The observer or the reflector of memory: its model, and the number of tokens from which on it works. */
export class MemoryRole {
  readonly #session: SessionContext
  readonly #facts: RoleFacts

  constructor(session: SessionContext, facts: RoleFacts) {
    this.#session = session
    this.#facts = facts
  }

  modelId(): string | undefined {
    const { omConfig } = this.#session.core.config
    const byDefault =
      this.#facts.role === 'observer' ? omConfig?.defaultObserverModelId : omConfig?.defaultReflectorModelId
    return this.#session.settings.text(this.#facts.modelKey) ?? byDefault
  }

  threshold(): number {
    const { omConfig } = this.#session.core.config
    const byDefault =
      this.#facts.role === 'observer' ? omConfig?.defaultObservationThreshold : omConfig?.defaultReflectionThreshold
    return this.#session.settings.number(this.#facts.thresholdKey) ?? byDefault ?? this.#facts.threshold
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
    const { modelId } = givenFields(options, `om.${this.#facts.role}.switchModel({ modelId })`)
    givenText(modelId, 'modelId')
    await this.#session.settings.set(this.#facts.modelKey, modelId)
    this.#session.binding.emit({ type: 'om_model_changed', role: this.#facts.role, modelId })
  }
}

export interface SessionMemory {
  readonly observer: MemoryRole
  readonly reflector: MemoryRole
}

export function sessionMemory(session: SessionContext): SessionMemory {
  const role = (facts: RoleFacts): MemoryRole => new MemoryRole(session, facts)
  return {
    observer: role({
      role: 'observer',
      modelKey: 'observerModelId',
      thresholdKey: 'observationThreshold',
      threshold: 30_000,
    }),
    reflector: role({
      role: 'reflector',
      modelKey: 'reflectorModelId',
      thresholdKey: 'reflectionThreshold',
      threshold: 40_000,
    }),
  }
}

/** The model of subagents: of one type, or of all types without one of their own. */
export class SubagentModel {
  readonly #session: SessionContext

  constructor(session: SessionContext) {
    this.#session = session
  }

  get(options: { readonly agentType?: string } = {}): string | null {
    const { agentType } = givenFields(options, 'subagents.model.get({ agentType? })')
    optionalText(agentType, 'agentType')
    const own = agentType === undefined ? undefined : this.#session.settings.text(subagentKey(agentType))
    return own ?? this.#session.settings.text(subagentKey(undefined)) ?? null
  }

  async set(options: { readonly modelId: string; readonly agentType?: string }): Promise<void> {
    const { agentType, modelId } = givenFields(options, 'subagents.model.set({ modelId })')
    givenText(modelId, 'modelId')
    optionalText(agentType, 'agentType')
    await this.#session.settings.set(subagentKey(agentType), modelId)
    const typed = agentType === undefined ? {} : { agentType }
    this.#session.binding.emit({ type: 'subagent_model_changed', modelId, scope: 'thread', ...typed })
  }
}

function subagentKey(agentType: string | undefined): string {
  return agentType === undefined ? 'subagentModelId' : `subagentModelId_${agentType}`
}
