import { toWire, type JsonObject, type JsonValue } from '@evener/protocol'
import type { SessionBinding } from './session-binding.ts'

/** What was chosen without a thread, or for threads to come: a new thread starts from it. */
export class SessionDefaults {
  modeId: string
  /** Empty: the agent's own. */
  modelId: string
  yolo = false
  readonly #settings = new Map<string, JsonValue>()

  constructor(modeId: string, modelId: string) {
    this.modeId = modeId
    this.modelId = modelId
  }

  get settings(): JsonObject {
    return Object.fromEntries(this.#settings)
  }

  setting(key: string): JsonValue | undefined {
    return this.#settings.get(key)
  }

  setSetting(key: string, value: JsonValue | null): void {
    if (value === null) this.#settings.delete(key)
    else this.#settings.set(key, value)
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
    return Object.hasOwn(head.settings, key) ? head.settings[key] : undefined
  }

  /** `null` removes it. */
  async set(key: string, given: JsonValue): Promise<void> {
    const { runtime } = this.#binding
    // A copy: what the caller does with its own later is not what was set.
    const value: JsonValue = toWire(given)
    if (runtime === undefined) this.#defaults.setSetting(key, value)
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
