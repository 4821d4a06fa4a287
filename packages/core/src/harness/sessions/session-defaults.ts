import type { JsonObject, JsonValue } from '@inspan/protocol'
import { defined } from '@inspan/protocol/internal'
import type { Head } from '@inspan/protocol/log'
import { toWire } from '@inspan/protocol/wire'
import type { SessionContext } from './session-context.ts'

const YOLO = 'yolo'
const SETTING = 'setting:'

/** `null` removes a setting. */
export interface Choice {
  readonly modeId?: string
  readonly modelId?: string
  readonly yolo?: boolean
  readonly settings?: { readonly [key: string]: JsonValue }
}

/** Choices made without a thread, or for future threads: a new thread starts from them. */
export class SessionDefaults {
  modeId: string
  /** Empty for the agent's own model. */
  modelId: string
  yolo = false
  readonly #session: SessionContext
  readonly #settings = new Map<string, JsonValue>()

  constructor(session: SessionContext, initial: Choice & { readonly modeId: string; readonly modelId: string }) {
    this.#session = session
    this.modeId = initial.modeId
    this.modelId = initial.modelId
    this.#apply(initial)
  }

  get settings(): JsonObject {
    return Object.fromEntries(this.#settings)
  }

  setting(key: string): JsonValue | undefined {
    return this.#settings.get(key)
  }

  /** Takes effect at once. Resolves when it is on record, for a session that has an id. */
  async choose(choice: Choice): Promise<void> {
    this.#apply(choice)
    const { modeId, modelId, settings = {}, yolo } = choice
    const kept = Object.entries(settings).map(([key, value]): [string, JsonValue] => [SETTING + key, value])
    await this.#session.keep({
      ...defined({ mode: modeId, model: modelId }),
      // As a setting, so that switching it off is recorded too.
      settings: { ...Object.fromEntries(kept), ...defined({ [YOLO]: yolo }) },
    })
  }

  /** Restores the choices of an earlier process. A mode that no longer exists is ignored. */
  restore({ mode, model, settings }: Head, modes: readonly { readonly id: string }[]): void {
    const kept = [...settings.entries()].filter(([key]) => key.startsWith(SETTING))
    const yolo = settings.get(YOLO)
    this.#apply({
      ...(mode !== null && modes.some(({ id }) => id === mode) ? { modeId: mode } : {}),
      ...(model === null ? {} : { modelId: model }),
      ...(typeof yolo === 'boolean' ? { yolo } : {}),
      settings: Object.fromEntries(kept.map(([key, value]) => [key.slice(SETTING.length), value])),
    })
  }

  #apply({ modeId, modelId, settings = {}, yolo }: Choice): void {
    this.modeId = modeId ?? this.modeId
    this.modelId = modelId ?? this.modelId
    this.yolo = yolo ?? this.yolo
    for (const [key, value] of Object.entries(settings)) {
      if (value === null) this.#settings.delete(key)
      else this.#settings.set(key, value)
    }
  }
}

/** The settings of the bound thread. Without a thread they are kept for the next one that is created. */
export class ThreadSettings {
  readonly #session: SessionContext

  constructor(session: SessionContext) {
    this.#session = session
  }

  get(key: string): JsonValue | undefined {
    const { binding, defaults } = this.#session
    return binding.head === undefined ? defaults.setting(key) : binding.head.settings.get(key)
  }

  /** `null` removes it. */
  async set(key: string, given: JsonValue): Promise<void> {
    const { binding, defaults } = this.#session
    // A copy, so that later changes by the caller have no effect.
    const value: JsonValue = toWire(given)
    if (binding.runtime === undefined) await defaults.choose({ settings: { [key]: value } })
    else await binding.runtime.configure({ settings: { [key]: value } })
  }

  text(key: string): string | undefined {
    const value = this.get(key)
    return typeof value === 'string' && value !== '' ? value : undefined
  }
}
