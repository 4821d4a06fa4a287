/** The awaited event did not happen in time, or can no longer happen. */
export class WaitFailed extends Error {
  constructor(what: string, why: string) {
    super(`Waiting for ${what}: ${why}`)
    this.name = 'WaitFailed'
  }
}

/** Lets callers wait for a condition. Code that may change it has to call `changed`. */
export class RequestWatch {
  readonly #checks = new Set<() => void>()
  #closed = false

  changed(): void {
    for (const check of this.#checks) check()
  }

  close(): void {
    this.#closed = true
    this.changed()
  }

  until<T>(read: () => T | undefined, what: string, timeoutMs: number): Promise<T> {
    return new Promise((resolve, reject) => {
      const settle = (finish: () => void): void => {
        clearTimeout(timer)
        this.#checks.delete(check)
        finish()
      }
      const check = (): void => {
        const value = read()
        if (value !== undefined) settle(() => resolve(value))
        else if (this.#closed) settle(() => reject(new WaitFailed(what, 'the provider is closed')))
      }
      const timer = setTimeout(() => {
        settle(() => reject(new WaitFailed(what, `nothing within ${timeoutMs} ms`)))
      }, timeoutMs)
      this.#checks.add(check)
      check()
    })
  }
}
