import { randomBytes, timingSafeEqual } from 'node:crypto'
import type { Role } from './identity.ts'

const VALID_MS = 5 * 60 * 1000
const MAX_CODES = 20

interface Code {
  readonly code: Buffer
  readonly role: Role
  readonly until: number
}

/** One-time codes. A browser swaps one for a cookie, so that no token is ever in an address or a page. */
export class Pairing {
  readonly #now: () => number
  #codes: readonly Code[] = []

  constructor(now: () => number = Date.now) {
    this.#now = now
  }

  create(role: Role): { code: string; expiresAt: number } {
    const code = randomBytes(16)
    const until = this.#now() + VALID_MS
    this.#codes = [...this.#valid(), { code, role, until }].slice(-MAX_CODES)
    return { code: code.toString('base64url'), expiresAt: until }
  }

  /** Returns the role that the code gives, once. */
  redeem(code: string): Role | undefined {
    const given = Buffer.from(code, 'base64url')
    const found = this.#valid().find((each) => each.code.length === given.length && timingSafeEqual(each.code, given))
    this.#codes = this.#valid().filter((each) => each !== found)
    return found?.role
  }

  #valid(): readonly Code[] {
    return this.#codes.filter(({ until }) => until > this.#now())
  }
}
