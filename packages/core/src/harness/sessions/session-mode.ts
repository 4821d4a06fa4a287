import { defined } from '@inspan/protocol/internal'
import { aText } from '@inspan/protocol/internal'
import { givenFields } from '../checks/check-given.ts'
import type { HarnessMode } from '../harness-config.ts'
import { modeChange, modeModelKey, textOf } from './mode-change.ts'
import type { SessionContext } from './session-context.ts'

interface ModeChoice {
  readonly modeId: string
}

/** The mode of the session's thread. */
export class SessionMode {
  readonly #session: SessionContext
  /** Set, but not on record yet. */
  #pending: { readonly modeId: string; readonly entering: Promise<void> } | undefined

  constructor(session: SessionContext) {
    this.#session = session
  }

  get(): string {
    const { binding, defaults } = this.#session
    return this.#pending?.modeId ?? binding.head?.mode ?? defaults.modeId
  }

  resolve(): HarnessMode {
    return this.#session.core.findMode(this.get())
  }

  /** Resolves when the mode that was set is on record; `undefined` when none is pending. */
  static entering(mode: SessionMode): Promise<void> | undefined {
    return mode.#pending?.entering.catch(() => undefined)
  }

  /**
   * Changes the mode. A run at work goes on, in the new mode from its next step. `get` returns it at once; resolves when
   * it is on record.
   */
  async set(options: ModeChoice): Promise<void> {
    const mode = this.#find(options, 'mode.set({ modeId })')
    const pending = { modeId: mode.id, entering: this.#session.turns.post(() => this.#enter(mode)) }
    this.#pending = pending
    try {
      await pending.entering
    } finally {
      if (this.#pending === pending) this.#pending = undefined
    }
  }

  /** Cancels the run and changes the mode. */
  async switch(options: ModeChoice): Promise<void> {
    const mode = this.#find(options, 'mode.switch({ modeId })')
    const { conversation, turns } = this.#session
    // The abort begins with the call; later commands wait until the mode has changed.
    const aborted = conversation.abort()
    aborted.catch(() => undefined)
    await turns.post(async () => {
      await aborted
      await this.#enter(mode)
    })
  }

  #find(options: ModeChoice, call: string): HarnessMode {
    return this.#session.core.findMode(givenFields(options, call, { modeId: aText }).modeId)
  }

  async #enter(mode: HarnessMode): Promise<void> {
    const { binding, core, defaults } = this.#session
    // Also while the thread is being left: the change was asked for before that.
    const { lastRuntime } = binding
    if (lastRuntime !== undefined) {
      const current = lastRuntime.state.head.mode ?? defaults.modeId
      if (mode.id !== current) await lastRuntime.configure({ mode: mode.id }, core.doorKey)
      return
    }
    const previousModeId = defaults.modeId
    if (previousModeId === mode.id) return
    const change = modeChange(mode, defaults, (modeId) => textOf(defaults.setting(modeModelKey(modeId))))
    const modelId = change.model ?? undefined
    await defaults.choose({
      modeId: mode.id,
      ...defined({ modelId, settings: change.settings }),
    })
    binding.emit({ type: 'mode_changed', modeId: mode.id, previousModeId })
    if (modelId === undefined) return
    binding.emit({ type: 'model_changed', modelId, scope: 'thread', modeId: mode.id })
  }
}
