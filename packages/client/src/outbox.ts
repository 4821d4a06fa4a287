import type { Command } from '@inspan/protocol/wire'

/** A command that the server has not settled yet. */
export interface PendingCommand {
  readonly id: string
  readonly command: Command & { readonly id: string }
  readonly madeAt: number
  /** Whom the server knew the sender as. It is sent only to a server that knows the sender as the same. */
  readonly principal?: string
  /** True for an old message that is not sent again by itself: nobody may want it any more. */
  readonly isStale?: true
}

export interface OutboxContents {
  readonly clientId: string
  /** Whom a server knew the sender as last: commands that are made while disconnected are theirs. */
  readonly principal?: string
  readonly commands: readonly PendingCommand[]
}

/** Keeps unsettled commands, so that a reload of the page loses none and repeats none. */
export interface OutboxStorage {
  load(): OutboxContents | undefined | Promise<OutboxContents | undefined>
  save(contents: OutboxContents): void | Promise<void>
}

/** Messages older than this are sent again only when the user confirms them. */
const STALE_MS = 60 * 60 * 1000

/** Keeps commands in `localStorage`, or anything like it. Each tab needs its own name, e.g. from `sessionStorage`. */
export function webStorageOutbox(storage: Pick<Storage, 'getItem' | 'setItem'>, name = 'inspan.outbox'): OutboxStorage {
  return {
    load: () => readContents(storage.getItem(name)),
    save: (contents) => storage.setItem(name, JSON.stringify(contents)),
  }
}

/** What cannot be read must not keep the page from connecting: it begins with an empty outbox. */
function readContents(text: string | null): OutboxContents | undefined {
  try {
    const { clientId, commands, principal } = JSON.parse(text ?? '{}') as Partial<OutboxContents>
    if (typeof clientId !== 'string' || !Array.isArray(commands) || !commands.every(isPending)) return undefined
    return { clientId, commands, ...(typeof principal === 'string' ? { principal } : {}) }
  } catch {
    return undefined
  }
}

export class CommandOutbox {
  readonly clientId: string
  readonly #storage: OutboxStorage | undefined
  #commands: readonly PendingCommand[]
  #principal: string | undefined
  #saving: Promise<void> = Promise.resolve()

  private constructor(contents: OutboxContents, storage: OutboxStorage | undefined) {
    this.clientId = contents.clientId
    this.#storage = storage
    this.#commands = contents.commands
    this.#principal = contents.principal
  }

  static async open(storage: OutboxStorage | undefined, now: number): Promise<CommandOutbox> {
    const kept = await storage?.load()
    const contents = kept ?? { clientId: crypto.randomUUID(), commands: [] }
    const commands = contents.commands.map((each) => (isStale(each, now) ? { ...each, isStale: true as const } : each))
    const outbox = new CommandOutbox({ ...contents, commands }, storage)
    if (kept === undefined) outbox.#save()
    return outbox
  }

  get commands(): readonly PendingCommand[] {
    return this.#commands
  }

  add(command: Omit<PendingCommand, 'principal' | 'isStale'>): void {
    this.#commands = [...this.#commands, ownedBy(command, this.#principal)]
    this.#save()
  }

  /** Notes who the sender is: also that of commands that were made before any server said so. */
  claim(principal: string): void {
    if (this.#principal === principal && this.#commands.every((each) => each.principal !== undefined)) return
    this.#principal = principal
    this.#commands = this.#commands.map((each) => (each.principal === undefined ? { ...each, principal } : each))
    this.#save()
  }

  confirm(id: string): void {
    this.#commands = this.#commands.map((each) => {
      if (each.id !== id) return each
      const { isStale: _isStale, ...fresh } = each
      return fresh
    })
    this.#save()
  }

  remove(id: string): void {
    const left = this.#commands.filter((each) => each.id !== id)
    if (left.length === this.#commands.length) return
    this.#commands = left
    this.#save()
  }

  /** Resolves when everything so far is stored. */
  saved(): Promise<void> {
    return this.#saving
  }

  #save(): void {
    const contents = ownedBy({ clientId: this.clientId, commands: this.#commands }, this.#principal)
    const storage = this.#storage
    if (storage === undefined) return
    try {
      const saved = storage.save(contents)
      this.#saving = Promise.resolve(saved).catch(() => undefined)
    } catch {
      // A full or forbidden storage costs only what a reload would have saved.
    }
  }
}

function ownedBy<Owned extends object>(owned: Owned, principal: string | undefined): Owned & { principal?: string } {
  return principal === undefined ? owned : { ...owned, principal }
}

function isPending(kept: Partial<PendingCommand> | null): boolean {
  return typeof kept?.id === 'string' && kept.command?.id === kept.id && typeof kept.madeAt === 'number'
}

const MESSAGES: ReadonlySet<Command['type']> = new Set(['submit', 'resume', 'steer', 'follow-up'])

function isStale({ command, madeAt }: PendingCommand, now: number): boolean {
  return MESSAGES.has(command.type) && now - madeAt > STALE_MS
}
