const MOST_FILES = 10_000

/** Remembers which version of a file each thread has seen. */
export class SeenFiles {
  readonly #threads = new Map<string, Map<string, string>>()

  note(threadId: string, path: string, version: string): void {
    const files = this.#threads.get(threadId) ?? new Map<string, string>()
    this.#threads.set(threadId, files)
    files.delete(path)
    files.set(path, version)
    const [oldest] = files.keys()
    if (files.size > MOST_FILES && oldest !== undefined) files.delete(oldest)
  }

  versionOf(threadId: string, path: string): string | undefined {
    return this.#threads.get(threadId)?.get(path)
  }
}
