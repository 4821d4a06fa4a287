import { toWire, type Head, type JsonObject, type JsonValue } from '@evener/protocol'
import type { SessionBinding } from './session-binding.ts'
import type { KeepWithSession } from './session-log.ts'

const YOLO = 'yolo'
const SETTING = 'setting:'

/** `null` removes a setting. */
export interface Choice {
  readonly modeId?: string
  readonly modelId?: string
  readonly yolo?: boolean
  readonly settings?: { readonly [key: string]: JsonValue }
}

/** What was chosen without a thread, or for threads to come: a new thread starts from it. */
export class SessionDefaults {
  readonly #keep: KeepWithSession
  readonly #settings = new Map<string, JsonValue>()
  #modeId: string
  #modelId: string
  #yolo = false

  constructor(initial: Choice & { readonly modeId: string; readonly modelId: string }, keep: KeepWithSession) {
    this.#keep = keep
    this.#modeId = initial.modeId
    this.#modelId = initial.modelId
    this.#apply(initial)
  }

  get modeId(): string {
    return this.#modeId
  }

  /** Empty: the agent's own. */
  get modelId(): string {
    return this.#modelId
  }

  get yolo(): boolean {
    return this.#yolo
  }

  get settings(): JsonObject {
    return Object.fromEntries(this.#settings)
  }

  setting(key: string): JsonValue | undefined {
    return this.#settings.get(key)
  }

  /** Holds at once; resolves when it is on record, for a session that has an id. */
  async choose(choice: Choice): Promise<void> {
    this.#apply(choice)
    const { modeId, modelId, settings = {}, yolo } = choice
    const kept = Object.entries(settings).map(([key, value]): [string, JsonValue] => [SETTING + key, value])
    await this.#keep({
      ...(modeId === undefined ? {} : { mode: modeId }),
      ...(modelId === undefined ? {} : { model: modelId }),
      // As a setting: that it was switched off is to be known as well.
      settings: { ...Object.fromEntries(kept), ...(yolo === undefined ? {} : { [YOLO]: yolo }) },
    })
  }

  /** As an earlier process left them. A mode that there is no longer is not chosen. */
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
    this.#modeId = modeId ?? this.#modeId
    this.#modelId = modelId ?? this.#modelId
    this.#yolo = yolo ?? this.#yolo
    for (const [key, value] of Object.entries(settings)) {
      if (value === null) this.#settings.delete(key)
      else this.#settings.set(key, value)
    }
  }
}

/** Settings of the bound thread; without one they are kept for the next that is created. */
export class ThreadSettings {
  readonly #binding: SessionBinding
  readonly #defaults: SessionDefaults

  constructor(binding: SessionBinding, defaults: SessionDefaults) {
    this.#binding = binding
    this.#defaults = defaults
  }

  get(key: string): JsonValue | undefined {
    const { head } = this.#binding
    if (head === undefined) return this.#defaults.setting(key)
    return head.settings.get(key)
  }

  /** `null` removes it. */
  async set(key: string, given: JsonValue): Promise<void> {
    const { runtime } = this.#binding
    // A copy: what the caller does with its own later is not what was set.
    const value: JsonValue = toWire(given)
    if (runtime === undefined) await this.#defaults.choose({ settings: { [key]: value } })
    else await runtime.configure({ settings: { [key]: value } })
  }

  text(key: string): string | undefined {
    const value = this.get(key)
    return typeof value === 'string' && value !== '' ? value : undefined
  }

  number(key: string): number | undefined {
    const value = this.get(key)
    return typeof value === 'number' ? value : undefined
  }
}
