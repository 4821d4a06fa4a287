const opened = new Map<string, number>()

/**
 * The paths of the databases that stores of this process have open. Such a file must not be opened in any other way:
 * closing it again would drop all locks of this process on it, by the rules of POSIX. Nor may anything else write it.
 */
export const databaseFiles: {
  add(path: string): void
  remove(path: string): void
  paths(): Iterable<string>
} = {
  add: (path) => void opened.set(path, (opened.get(path) ?? 0) + 1),
  remove: (path) => {
    const left = (opened.get(path) ?? 0) - 1
    if (left > 0) opened.set(path, left)
    else opened.delete(path)
  },
  paths: () => opened.keys(),
}
