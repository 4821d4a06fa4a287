import type { RequestContext } from '@inspan/agent'
import { InspanError } from '@inspan/protocol'
import type { Dynamic, DynamicContext } from '../harness-config.ts'

/** The browser of a harness, as given or as made for a request. The harness itself does nothing with it; tools do. */
export class BrowserSlot {
  #input: Dynamic<object> | undefined

  constructor(input: Dynamic<object> | undefined) {
    this.#input = input
  }

  /** Returns the browser as given, also when it is a function that makes one. */
  get(): Dynamic<object> | undefined {
    return this.#input
  }

  /** Replaces the browser for later calls of `resolve`. */
  set(input: Dynamic<object> | undefined): void {
    if (input !== undefined && (input === null || !['object', 'function'].includes(typeof input))) {
      throw new InspanError('invalid-input', '`browser` must be a browser, a function that makes one, or undefined.')
    }
    this.#input = input
  }

  async resolve(requestContext: RequestContext): Promise<object | undefined> {
    const input = this.#input
    if (typeof input !== 'function') return input
    return (input as (context: DynamicContext) => object | Promise<object>)({ requestContext })
  }
}
