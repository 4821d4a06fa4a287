import { EvenerError, type JsonObject } from '@evener/protocol'

/** Why a program refused what it was asked. */
export interface Refusal {
  readonly message: string
  readonly code?: string
}

interface OpenRequest {
  readonly what: string
  readonly resolve: (result: JsonObject) => void
  readonly reject: (error: Error) => void
}

/** What we have asked a program and it has not answered yet. */
export class Replies {
  readonly #title: string
  readonly #open = new Map<string, OpenRequest>()
  #whyGone: string | undefined

  constructor(title: string) {
    this.#title = title
  }

  /** While something is open the program's output has to be read, whoever may be slow. */
  get areOpen(): boolean {
    return this.#open.size > 0
  }

  /** `what` is for people. Rejects with `unsupported` when the program refuses, with `closed` when it is gone. */
  expect(id: string, what: string): Promise<JsonObject> {
    if (this.#whyGone !== undefined) return Promise.reject(this.#gone(what, this.#whyGone))
    const { promise, resolve, reject } = Promise.withResolvers<JsonObject>()
    this.#open.set(id, { what, resolve, reject })
    return promise
  }

  /** False: nobody has asked for this. */
  resolve(id: string, result: JsonObject): boolean {
    const request = this.#take(id)
    request?.resolve(result)
    return request !== undefined
  }

  reject(id: string, { message, code }: Refusal): boolean {
    const request = this.#take(id)
    request?.reject(
      new EvenerError('unsupported', `${this.#title} refused to ${request.what}: ${message}`, {
        details: code === undefined ? {} : { reason: code },
      }),
    )
    return request !== undefined
  }

  /** Nothing will be answered any more. */
  end(why: string): void {
    this.#whyGone ??= why
    const open = [...this.#open.values()]
    this.#open.clear()
    for (const { what, reject } of open) reject(this.#gone(what, why))
  }

  #take(id: string): OpenRequest | undefined {
    const request = this.#open.get(id)
    this.#open.delete(id)
    return request
  }

  #gone(what: string, why: string): EvenerError {
    return new EvenerError('closed', `${this.#title} cannot ${what}: ${why}.`)
  }
}
