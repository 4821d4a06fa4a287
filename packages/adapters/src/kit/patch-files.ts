const MARKERS = ['*** Add File: ', '*** Update File: ', '*** Delete File: ', '*** Move to: '] as const

/** Returns the files that an `apply_patch` patch names, in order, each once. */
export function patchFiles(patch: string): readonly string[] {
  const files = new Set<string>()
  let from = 0
  while (from <= patch.length) {
    const newline = patch.indexOf('\n', from)
    const end = newline === -1 ? patch.length : newline
    if (patch.startsWith('*** ', from)) {
      const line = patch.slice(from, end)
      const marker = MARKERS.find((candidate) => line.startsWith(candidate))
      const file = marker === undefined ? '' : line.slice(marker.length).trim()
      if (file !== '') files.add(file)
    }
    from = end + 1
  }
  return [...files]
}
