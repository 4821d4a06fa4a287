import { InspanError, type JsonObject } from '@inspan/protocol'

/** Why a CLI refused a request. */
export interface ReplyRefusal {
  readonly message: string
  readonly code?: string
}

interface OpenReply {
  readonly what: string
  readonly resolve: (result: JsonObject) => void
  readonly reject: (error: Error) => void
}

/** Our requests that a CLI has not answered yet. */
export class Replies {
  readonly #title: string
  readonly #open = new Map<string, OpenReply>()
  #whyGone: string | undefined

  constructor(title: string) {
    this.#title = title
  }

  /** Whether a request is open. Meanwhile the output has to be read, even if consumers of the events are slow. */
  get areOpen(): boolean {
    return this.#open.size > 0
  }

  /** `what` is for people. Rejects with `unsupported` if the CLI refuses, with `closed` if it has exited. */
  expect(id: string, what: string): Promise<JsonObject> {
    if (this.#whyGone !== undefined) return Promise.reject(this.#gone(what, this.#whyGone))
    const { promise, resolve, reject } = Promise.withResolvers<JsonObject>()
    this.#open.set(id, { what, resolve, reject })
    return promise
  }

  /** Returns false if there is no such request. */
  resolve(id: string, result: JsonObject): boolean {
    const request = this.#take(id)
    request?.resolve(result)
    return request !== undefined
  }

  reject(id: string, { message, code }: ReplyRefusal): boolean {
    const request = this.#take(id)
    request?.reject(
      new InspanError('unsupported', `${this.#title} refused to ${request.what}: ${message}`, {
        details: code === undefined ? {} : { reason: code },
      }),
    )
    return request !== undefined
  }

  /** Rejects all requests, because none will be answered any more. */
  end(why: string): void {
    this.#whyGone ??= why
    const open = [...this.#open.values()]
    this.#open.clear()
    for (const { what, reject } of open) reject(this.#gone(what, why))
  }

  #take(id: string): OpenReply | undefined {
    const request = this.#open.get(id)
    this.#open.delete(id)
    return request
  }

  #gone(what: string, why: string): InspanError {
    return new InspanError('closed', `${this.#title} cannot ${what}: ${why}.`)
  }
}
