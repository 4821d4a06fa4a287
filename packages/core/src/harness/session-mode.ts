import type { ConfigChangedRecord } from '@evener/protocol'
import { Mailbox } from '../engine/mailbox.ts'
import { givenFields, givenText } from './check-given.ts'
import type { HarnessMode } from './harness-config.ts'
import type { HarnessCore } from './harness-core.ts'
import type { SessionBinding } from './session-binding.ts'
import type { SessionDefaults } from './session-defaults.ts'

export function modeModelKey(modeId: string): string {
  return `modeModelId_${modeId}`
}

/** What entering a mode changes: each mode remembers the model that was last chosen in it. */
export function modeChange(
  mode: HarnessMode,
  current: { readonly modeId: string; readonly modelId: string },
  remembered: (modeId: string) => string | undefined,
): Omit<ConfigChangedRecord, 'type'> {
  const model = remembered(mode.id) ?? mode.defaultModelId ?? current.modelId
  return {
    mode: mode.id,
    ...(model === '' || model === current.modelId ? {} : { model }),
    ...(current.modelId === '' ? {} : { settings: { [modeModelKey(current.modeId)]: current.modelId } }),
  }
}

interface ModeChoice {
  readonly modeId: string
}

/** The mode of the session's thread. */
export class SessionMode {
  readonly #core: HarnessCore
  readonly #binding: SessionBinding
  readonly #defaults: SessionDefaults
  readonly #abort: () => Promise<void>
  /** One change after the other: each starts from what the last one left. */
  readonly #turns = new Mailbox()

  constructor(core: HarnessCore, binding: SessionBinding, defaults: SessionDefaults, abort: () => Promise<void>) {
    this.#core = core
    this.#binding = binding
    this.#defaults = defaults
    this.#abort = abort
  }

  get(): string {
    return this.#binding.head?.mode ?? this.#defaults.modeId
  }

  resolve(): HarnessMode {
    return this.#core.findMode(this.get())
  }

  /** Changes the mode. A run that is at work goes on, from its next step in the new mode. */
  async set(options: ModeChoice): Promise<void> {
    const mode = this.#find(options, 'mode.set({ modeId })')
    await this.#turns.post(() => this.#enter(mode))
  }

  /** Ends what is being done and changes the mode. */
  async switch(options: ModeChoice): Promise<void> {
    const mode = this.#find(options, 'mode.switch({ modeId })')
    await this.#abort()
    await this.#turns.post(() => this.#enter(mode))
  }

  #find(options: ModeChoice, call: string): HarnessMode {
    return this.#core.findMode(givenText(givenFields(options, call).modeId, 'modeId'))
  }

  async #enter(mode: HarnessMode): Promise<void> {
    const { runtime } = this.#binding
    if (runtime !== undefined) {
      if (mode.id === this.get()) return
      const { model, settings } = runtime.state.head
      const current = { modeId: this.get(), modelId: model ?? '' }
      await runtime.configure(modeChange(mode, current, (modeId) => textOf(settings.get(modeModelKey(modeId)))))
      return
    }
    const previousModeId = this.#defaults.modeId
    if (previousModeId === mode.id) return
    const change = modeChange(mode, this.#defaults, (modeId) => textOf(this.#defaults.setting(modeModelKey(modeId))))
    const modelId = change.model ?? undefined
    await this.#defaults.choose({
      modeId: mode.id,
      ...(modelId === undefined ? {} : { modelId }),
      ...(change.settings === undefined ? {} : { settings: change.settings }),
    })
    this.#binding.emit({ type: 'mode_changed', modeId: mode.id, previousModeId })
    if (modelId === undefined) return
    this.#binding.emit({ type: 'model_changed', modelId, scope: 'thread', modeId: mode.id })
  }
}

function textOf(value: unknown): string | undefined {
  return typeof value === 'string' && value !== '' ? value : undefined
}
