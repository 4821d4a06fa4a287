/** Lines from `start` to `end`, both included; no end means to the end of the file. */
export interface LineRange {
  readonly start: number
  readonly end: number | undefined
}

export const WHOLE: LineRange = { start: 1, end: undefined }

/** Returns the lines of the file that remain when `inner` is applied to the lines of `outer`. */
export function narrow(outer: LineRange, inner: LineRange): LineRange {
  const end = inner.end === undefined ? undefined : outer.start + inner.end - 1
  return { start: outer.start + inner.start - 1, end: least(outer.end, end) }
}

function least(a: number | undefined, b: number | undefined): number | undefined {
  if (a === undefined) return b
  return b === undefined ? a : Math.min(a, b)
}

/** Returns the range for a count such as the value of `head -n`. */
export function firstLines(count: string): LineRange | null {
  return /^\d{1,9}$/.test(count) && Number(count) > 0 ? { start: 1, end: Number(count) } : null
}
