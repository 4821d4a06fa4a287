import type { RequestContext } from '@inspan/agent'
import { InspanError } from '@inspan/protocol'
import type { ToolSource } from '@inspan/protocol/driver'
import type { HarnessDynamic, DynamicContext } from '../harness-config.ts'

/** The browser of a harness, as given or as made for a request. Agents get its tools if it is a tool source. */
export class BrowserSlot {
  #input: HarnessDynamic<object> | undefined
  readonly #made = new WeakMap<RequestContext, { readonly input: unknown; readonly source: ToolSource | undefined }>()

  constructor(input: HarnessDynamic<object> | undefined) {
    this.#input = input
  }

  /** Returns the browser as given, also when it is a function that makes one. */
  get(): HarnessDynamic<object> | undefined {
    return this.#input
  }

  /** Replaces the browser for later calls of `resolve`. */
  set(input: HarnessDynamic<object> | undefined): void {
    if (input !== undefined && (input === null || !['object', 'function'].includes(typeof input))) {
      throw new InspanError('invalid-input', '`browser` must be a browser, a function that makes one, or undefined.')
    }
    this.#input = input
  }

  /** Returns the tools of the browser for a run, if it has any. One that a function makes is made once per run. */
  async source(requestContext: RequestContext): Promise<ToolSource | undefined> {
    const known = this.#made.get(requestContext)
    if (known !== undefined && known.input === this.#input) return known.source
    const browser = await this.resolve(requestContext)
    const source = browser !== undefined && isSource(browser) ? browser : undefined
    this.#made.set(requestContext, { input: this.#input, source })
    return source
  }

  async resolve(requestContext: RequestContext): Promise<object | undefined> {
    const input = this.#input
    if (typeof input !== 'function') return input
    return (input as (context: DynamicContext) => object | Promise<object>)({ requestContext })
  }
}

function isSource(browser: object): browser is ToolSource {
  return ['list', 'call', 'close'].every((name) => typeof Reflect.get(browser, name) === 'function')
}
