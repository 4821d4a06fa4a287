const GRAPHEMES = new Intl.Segmenter(undefined, { granularity: 'grapheme' })

/** Returns the first line with something in it, cut between characters as people see them. */
export function oneLine(text: string, longest = 80): string {
  const line =
    text
      .split(/[\r\n\u2028\u2029]/u)
      .find((each) => each.trim() !== '')
      ?.trim() ?? ''
  let shown = ''
  let count = 0
  for (const { segment } of GRAPHEMES.segment(line.slice(0, longest * 20))) {
    if (count === longest) return `${shown}…`
    shown += segment
    count++
  }
  return shown
}
