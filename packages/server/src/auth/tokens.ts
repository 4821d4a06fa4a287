import { createHash, randomBytes, timingSafeEqual } from 'node:crypto'
import { chmod, mkdir, readFile, rename, writeFile } from 'node:fs/promises'
import { dirname } from 'node:path'
import { InspanError } from '@inspan/protocol'
import type { Identity, Role } from './identity.ts'

/** A token as it is listed: never the token itself. */
export interface TokenInfo {
  readonly id: string
  readonly name: string
  readonly principal: string
  readonly role: Role
  readonly createdAt: number
  /** True for the token of the server's owner, which is in the token file. */
  readonly isOwner?: true
}

interface KnownToken extends TokenInfo {
  readonly hash: string
}

interface TokenFile {
  readonly version: 1
  /** The owner's token, for programs of the same user on this machine. */
  readonly token: string
  /** Tokens of paired devices, as hashes. */
  readonly tokens: readonly KnownToken[]
}

/** Refuses tokens that could be guessed: 22 characters of base64 are 128 bits. */
const MIN_TOKEN = 22

export function newToken(): string {
  return randomBytes(32).toString('base64url')
}

/** The tokens of a server. With a file they outlive it; other users of the machine cannot read the file. */
export class Tokens {
  /** The owner's token. */
  readonly token: string
  readonly #path: string | undefined
  readonly #principal: string
  #known: readonly KnownToken[]
  #writing: Promise<void> = Promise.resolve()
  readonly #onRevoked = new Set<(id: string) => void>()

  private constructor(file: TokenFile, path: string | undefined, principal: string) {
    this.token = file.token
    this.#path = path
    this.#principal = principal
    this.#known = file.tokens
  }

  static async open(options: {
    readonly token?: string
    readonly path?: string
    readonly principal: string
  }): Promise<Tokens> {
    const { path, principal } = options
    const { token } = options
    if (token !== undefined && token.length < MIN_TOKEN) {
      throw new InspanError('invalid-input', `A token needs at least ${MIN_TOKEN} characters (128 bits).`, {
        hint: 'Leave `token` out to get a random one.',
      })
    }
    const kept = path === undefined ? undefined : await readTokens(path)
    const file: TokenFile = { version: 1, token: token ?? kept?.token ?? newToken(), tokens: kept?.tokens ?? [] }
    const tokens = new Tokens(file, path, principal)
    if (path !== undefined) await tokens.#save()
    return tokens
  }

  /** Returns whose token it is. Takes the same time whatever is wrong with it. */
  find(token: string): (Identity & { readonly tokenId: string }) | undefined {
    const hash = Buffer.from(hashOf(token), 'hex')
    let found: (Identity & { readonly tokenId: string }) | undefined
    for (const known of this.#all()) {
      if (!timingSafeEqual(hash, Buffer.from(known.hash, 'hex'))) continue
      found = { principal: known.principal, role: known.role, tokenId: known.id }
    }
    return found
  }

  /** Makes a token, e.g. for a paired device. Only its hash is kept. */
  async add(options: { readonly name: string; readonly role: Role }): Promise<{ token: string; info: TokenInfo }> {
    const token = newToken()
    const info: TokenInfo = {
      id: randomBytes(8).toString('hex'),
      name: options.name,
      // A person, not a device: what one device could not send, another may send again.
      principal: this.#principal,
      role: options.role,
      createdAt: Date.now(),
    }
    this.#known = [...this.#known, { ...info, hash: hashOf(token) }]
    await this.#save()
    return { token, info }
  }

  list(): readonly TokenInfo[] {
    return this.#all().map(({ hash: _hash, ...info }) => info)
  }

  /** Returns false when there is no such token. The owner's token is changed by deleting the token file. */
  async revoke(id: string): Promise<boolean> {
    const left = this.#known.filter((known) => known.id !== id)
    if (left.length === this.#known.length) return false
    this.#known = left
    for (const listener of this.#onRevoked) listener(id)
    await this.#save()
    return true
  }

  onRevoked(listener: (id: string) => void): void {
    this.#onRevoked.add(listener)
  }

  #all(): readonly KnownToken[] {
    const owner: KnownToken = {
      id: 'owner',
      name: 'owner',
      principal: this.#principal,
      role: 'drive',
      createdAt: 0,
      isOwner: true,
      hash: hashOf(this.token),
    }
    return [owner, ...this.#known]
  }

  async #save(): Promise<void> {
    const path = this.#path
    if (path === undefined) return
    const file: TokenFile = { version: 1, token: this.token, tokens: this.#known }
    this.#writing = this.#writing
      .catch(() => undefined)
      .then(async () => {
        await mkdir(dirname(path), { recursive: true, mode: 0o700 })
        const next = `${path}.${process.pid}.new`
        await writeFile(next, `${JSON.stringify(file, null, 2)}\n`, { mode: 0o600 })
        // The mode of `writeFile` does not count for a file that is there already.
        await chmod(next, 0o600)
        await rename(next, path)
      })
    await this.#writing
  }
}

async function readTokens(path: string): Promise<TokenFile | undefined> {
  let text: string
  try {
    text = await readFile(path, 'utf8')
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined
    throw new InspanError('io', `The token file ${path} cannot be read.`, { cause: error })
  }
  try {
    const file = JSON.parse(text) as Partial<TokenFile>
    if (typeof file.token === 'string' && file.token.length >= MIN_TOKEN && Array.isArray(file.tokens)) {
      return { version: 1, token: file.token, tokens: file.tokens }
    }
  } catch {
    // Reported below, like a file with other content.
  }
  throw new InspanError('corrupt', `The token file ${path} is damaged.`, {
    hint: 'Delete it: the server then makes new tokens, and devices have to be paired again.',
  })
}

function hashOf(token: string): string {
  return createHash('sha256').update(token).digest('hex')
}
