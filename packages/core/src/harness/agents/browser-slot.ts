import type { RequestContext } from '@evener/agent'
import { EvenerError } from '@evener/protocol'
import type { Dynamic, DynamicContext } from '../harness-config.ts'

/** The browser of a harness, as it was given or as it is made for a request. What it can do is its tools' concern. */
export class BrowserSlot {
  #input: Dynamic<object> | undefined

  constructor(input: Dynamic<object> | undefined) {
    this.#input = input
  }

  /** As it was given, also when it is a function that makes one. */
  get(): Dynamic<object> | undefined {
    return this.#input
  }

  /** Counts for whoever asks from now on. */
  set(input: Dynamic<object> | undefined): void {
    if (input !== undefined && (input === null || !['object', 'function'].includes(typeof input))) {
      throw new EvenerError('invalid-input', '`browser` must be a browser, a function that makes one, or undefined.')
    }
    this.#input = input
  }

  async resolve(requestContext: RequestContext): Promise<object | undefined> {
    const input = this.#input
    if (typeof input !== 'function') return input
    return (input as (context: DynamicContext) => object | Promise<object>)({ requestContext })
  }
}
