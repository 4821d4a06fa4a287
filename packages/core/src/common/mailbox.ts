/**
 * Runs one command at a time, in order. A command given from inside another one is queued like any other, so commands
 * never interleave.
 */
export class Mailbox {
  #last: Promise<unknown> = Promise.resolve()

  post<T>(task: () => Promise<T>): Promise<T> {
    const result = this.#last.then(task)
    // The next command starts even if this one fails; its result belongs to its caller.
    this.#last = result.then(forget, forget)
    return result
  }
}

function forget(): void {}
