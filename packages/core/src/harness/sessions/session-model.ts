import { aText, oneOf } from '@inspan/protocol/internal'
import { givenFields } from '../checks/check-given.ts'
import { modeModelKey } from './mode-change.ts'
import type { ModelScope } from './session-binding.ts'
import type { SessionContext } from './session-context.ts'
import { SessionMode } from './session-mode.ts'

export interface ModelSwitch {
  readonly modelId: string
  /** `global`: also for threads to come. */
  readonly scope?: ModelScope
  /** The mode to choose it for. Default: the current mode. */
  readonly modeId?: string
}

/** The model of the session's thread. */
export class SessionModel {
  readonly #session: SessionContext
  /** Set, but not on record yet. */
  #pending: string | undefined

  constructor(session: SessionContext) {
    this.#session = session
  }

  /** Returns the model id; empty when none was chosen and the agent uses its own. */
  get(): string {
    const { binding, defaults } = this.#session
    return this.#pending ?? (binding.head === undefined ? defaults.modelId : (binding.head.model ?? ''))
  }

  hasSelection(): boolean {
    return this.get() !== ''
  }

  /** Returns the last part of the model id. */
  displayName(): string {
    return this.get().split('/').at(-1) || 'unknown'
  }

  /**
   * Chooses a model without counting it as a use by the user. `get` returns it at once; resolves when it is on record.
   */
  async set(options: { readonly modelId: string }): Promise<void> {
    const { modelId } = givenFields(options, 'model.set({ modelId })', { modelId: aText })
    this.#pending = modelId
    try {
      await this.#choose({ modelId, scope: 'thread', modeId: this.#session.mode.get() })
    } finally {
      if (this.#pending === modelId) this.#pending = undefined
    }
  }

  /** Returns the model of a mode's next run: the one chosen in it, else the mode's own. */
  resolveForMode(options: { readonly modeId: string }): string {
    const { modeId } = givenFields(options, 'model.resolveForMode({ modeId })', { modeId: aText })
    const mode = this.#session.core.findMode(modeId)
    return this.#session.settings.text(modeModelKey(modeId)) ?? mode.defaultModelId ?? this.get()
  }

  async saveForMode(options: { readonly modeId: string; readonly modelId?: string }): Promise<void> {
    const call = 'model.saveForMode({ modeId })'
    const { modeId, modelId = this.get() } = givenFields(options, call, { modeId: aText }, { modelId: aText })
    this.#session.core.findMode(modeId)
    await this.#session.settings.set(modeModelKey(modeId), modelId)
  }

  async switch(options: ModelSwitch): Promise<void> {
    const optional = { modeId: aText, scope: oneOf('global', 'thread', 'mode') }
    const given = givenFields(options, 'model.switch({ modelId })', { modelId: aText }, optional)
    const { modeId = this.#session.mode.get(), modelId, scope = 'thread' } = given
    this.#session.core.findMode(modeId)
    await this.#choose({ modelId, scope, modeId })
    await this.#session.core.models.noteUse(modelId)
  }

  async #choose({ modeId, modelId, scope }: Required<ModelSwitch>): Promise<void> {
    // The mode that is being entered would remember the new model for the mode that it leaves.
    await SessionMode.entering(this.#session.mode)
    if (scope === 'global') await this.#session.defaults.choose({ modelId })
    const { runtime } = this.#session.binding
    const isCurrent = modeId === this.#session.mode.get()
    if (runtime === undefined || !isCurrent) {
      await this.#session.settings.set(modeModelKey(modeId), modelId)
      if (isCurrent) await this.#session.defaults.choose({ modelId })
      this.#session.binding.emit({ type: 'model_changed', modelId, scope, modeId })
      return
    }
    this.#session.binding.modelScope = scope
    try {
      await runtime.configure({ model: modelId }, this.#session.core.doorKey)
    } finally {
      this.#session.binding.modelScope = 'thread'
    }
  }
}
