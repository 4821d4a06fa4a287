import { InspanError } from '@inspan/protocol'
import { DEFAULT_PAGE, MAX_PAGE, type PageRequest } from '@inspan/protocol/store'

/** A stream's number and a seq share one 63-bit key in SQLite, so a seq has 32 bits in every store. */
export const MAX_SEQ: number = 2 ** 32 - 1

/** Refuses ids with half an emoji or a NUL: they would not be read back as written, and two ids could become one. */
export function checkId(what: string, id: unknown): asserts id is string {
  if (typeof id === 'string' && id.length > 0 && id.isWellFormed() && !id.includes('\0')) return
  throw new InspanError('invalid-input', `${what} must be a non-empty text without NUL or broken characters.`, {
    details: { value: id },
  })
}

export function isSeq(value: unknown, lowest = 1): value is number {
  return typeof value === 'number' && Number.isInteger(value) && value >= lowest && value <= MAX_SEQ
}

export function checkSeq(what: string, value: unknown, lowest = 1): asserts value is number {
  if (isSeq(value, lowest)) return
  throw new InspanError('invalid-input', `${what} must be a whole number from ${lowest} to ${MAX_SEQ}.`, {
    details: { value },
  })
}

export function checkTime(what: string, value: unknown): asserts value is number {
  if (typeof value === 'number' && Number.isFinite(value)) return
  throw new InspanError('invalid-input', `${what} must be a number of milliseconds.`, { details: { value } })
}

export function pageLimit(request: PageRequest): number {
  const { limit } = request
  if (limit === undefined) return DEFAULT_PAGE
  if (Number.isInteger(limit) && limit >= 1) return Math.min(limit, MAX_PAGE)
  throw new InspanError('invalid-input', 'A page limit must be a whole number of at least 1.', { details: { limit } })
}

/** Returns a value as JSON text: every store returns it unchanged, and no caller can change it meanwhile. */
export function toJsonText(what: string, value: unknown): string {
  let text: string | undefined
  try {
    text = JSON.stringify(value)
  } catch (cause) {
    throw new InspanError('invalid-input', `${what} cannot be written as JSON.`, { cause })
  }
  if (text === undefined) throw new InspanError('invalid-input', `${what} cannot be written as JSON.`)
  return text
}

const SHA256_HEX = /^[0-9a-f]{64}$/

export function checkHash(hash: unknown): asserts hash is string {
  if (typeof hash === 'string' && SHA256_HEX.test(hash)) return
  throw new InspanError('invalid-input', 'A blob is named by the SHA-256 of its bytes, as 64 lower-case hex digits.', {
    details: { hash },
  })
}

export function checkRanges(ranges: readonly { readonly from: number; readonly to: number }[]): void {
  for (const { from, to } of ranges) {
    checkSeq('`from`', from)
    checkSeq('`to`', to)
  }
}
