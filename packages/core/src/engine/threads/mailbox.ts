/**
 * One command at a time, in the order they came. A command given from inside another one waits for its turn like any
 * other, so nothing ever runs in the middle of something else.
 */
export class Mailbox {
  #last: Promise<unknown> = Promise.resolve()

  post<T>(task: () => Promise<T>): Promise<T> {
    const result = this.#last.then(task)
    // The next one starts whether this one succeeded or not; what came of it belongs to who posted it.
    this.#last = result.then(forget, forget)
    return result
  }
}

function forget(): void {}
