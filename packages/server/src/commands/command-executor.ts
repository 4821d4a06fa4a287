import { InspanError } from '@inspan/protocol'
import type { CommandKey } from '@inspan/protocol/store'
import type { Command, CommandResult, ReceiptMessage } from '@inspan/protocol/wire'
import { allows, roleOfCommand } from '../auth/identity.ts'
import type { Caller } from '../http/guard.ts'
import type { Hub, UsedThread } from '../hub.ts'
import { uuidV7 } from './uuid.ts'

type Addressed = Command & { readonly thread: string }
type ReceiptOutcome = Omit<ReceiptMessage, 'type' | 'id'>

/** What the server offers besides its harness. */
export interface DeskOptions {
  readonly folders: readonly string[]
  readonly worktrees: boolean
}

/** Passes commands on to the threads they are meant for, and turns what was decided into receipts. */
export class CommandExecutor {
  readonly #hub: Hub
  readonly #offered: DeskOptions

  constructor(hub: Hub, offered: DeskOptions) {
    this.#hub = hub
    this.#offered = offered
  }

  async carryOut(command: Addressed, caller: Caller, clientId?: string): Promise<ReceiptMessage> {
    const receipt = (outcome: ReceiptOutcome): ReceiptMessage => ({ type: 'receipt', id: command.id ?? '', ...outcome })
    if (!allows(caller.role, roleOfCommand(command.type))) {
      const message = `The role "${caller.role}" does not allow "${command.type}".`
      return receipt({ status: 'rejected', reason: 'denied', message })
    }
    // A command without an id gets one here: it is carried out at most once, and its sender is on record.
    const key = keyOf(command.id ?? uuidV7(), caller, command.id === undefined ? undefined : clientId)
    try {
      return receipt(await this.#execute(command, key, caller))
    } catch (error) {
      return receipt(failure(error, await this.#stored(key)))
    }
  }

  /** Whether a command with this id was sent before, without the id of a client. */
  async isKnown(commandId: string, caller: Caller): Promise<boolean> {
    return (await this.#hub.door.store.getCommand(keyOf(commandId, caller))) !== null
  }

  async #execute(given: Addressed, key: CommandKey, caller: Caller): Promise<ReceiptOutcome> {
    const { command, thread } = await this.#addressed(given, caller)
    this.#check(command)
    const wantsTree = command.type === 'fork' && this.wantsWorktree(command.worktree)
    const used = await this.#hub.use(thread, caller)
    try {
      const result = await used.execute(command, key)
      if (command.type === 'delete' && result.status === 'done') await this.#hub.door.evict(thread)
      if (wantsTree && result.status === 'done' && result.thread !== undefined) {
        const refused = await this.makeWorktree(result.thread, caller).catch((error: unknown) => String(error))
        if (refused !== undefined) return { status: 'rejected', reason: 'unsupported', message: refused }
      }
      const outcome = outcomeOf(result, used)
      // Its sender named a session, perhaps one of a coding agent: this is the thread that continues it.
      return given.type === 'resume' && outcome.status === 'done' ? { ...outcome, thread } : outcome
    } finally {
      used.release()
    }
  }

  /** Refuses the wish for a worktree where the server offers none. */
  wantsWorktree(wish: unknown): boolean {
    if (wish !== true) return false
    if (this.#offered.worktrees) return true
    throw new InspanError('unsupported', 'This server does not offer worktrees.', {
      hint: 'Start it with `worktrees: true`.',
    })
  }

  /** Gives a new thread its worktree. A thread that cannot have one would work where nobody wants it, so it goes. */
  async makeWorktree(thread: string, caller: Caller): Promise<void> {
    const used = await this.#hub.use(thread, caller)
    try {
      await this.#hub.door.makeWorktree(used.runtime)
    } catch (error) {
      await this.#hub.door.remove(thread)
      throw error
    } finally {
      used.release()
    }
  }

  /**
   * `resume` opens the session it names, a thread of ours or a session of a coding agent, and continues it: the same as
   * a message to that thread.
   */
  async #addressed(given: Addressed, caller: Caller): Promise<{ command: Command; thread: string }> {
    const { thread, ...command } = given
    if (command.type !== 'resume') return { command, thread }
    const { prompt, sessionId, type: _type, ...rest } = command
    return { command: { ...rest, type: 'submit', prompt }, thread: await this.threadOf(sessionId, caller) }
  }

  /** Returns the thread of a session: one of ours, or one that a coding agent keeps, whose history is imported first. */
  async threadOf(sessionId: string, caller: Caller): Promise<string> {
    const { door } = this.#hub
    const resourceId = this.#hub.tenantOf(caller)
    const known = await door.find(sessionId, resourceId).catch((error: unknown) => {
      if (!InspanError.is(error, 'not-found')) throw error
    })
    if (known !== undefined) return known.id
    // Sessions on this machine belong to its owner: a tenant of a shared server must not read them.
    const folders = caller.tenant === undefined ? this.#offered.folders : []
    const use = (id: string): Promise<UsedThread> => this.#hub.use(id, caller)
    return (await door.importSession({ sessionId, resourceId, folders }, use)) ?? sessionId
  }

  /** Refuses names that the harness does not know: the thread itself takes any. */
  #check(command: Command): void {
    const { door } = this.#hub
    const { agent, mode } = command.type === 'configure' ? command.config : { agent: undefined, mode: undefined }
    const wanted = command.type === 'mode' ? command.mode : mode
    if (wanted !== undefined && !door.modes.some(({ id }) => id === wanted)) {
      throw new InspanError('not-found', `There is no mode "${wanted}".`)
    }
    if (agent !== undefined && !door.agentIds.includes(agent)) {
      throw new InspanError('not-found', `There is no agent "${agent}".`)
    }
  }

  /** Returns what was decided before, e.g. about the command that deleted the thread. */
  async #stored(key: CommandKey): Promise<ReceiptOutcome | undefined> {
    const row = await this.#hub.door.store.getCommand(key).catch(() => null)
    return row?.state === 'done' ? outcomeOf(row.outcome as CommandResult) : undefined
  }
}

const ANONYMOUS = 'anonymous'

function keyOf(commandId: string, { principal, tenant }: Caller, clientId: string = ANONYMOUS): CommandKey {
  // Two tenants may know different people by one name.
  return { principal: tenant === undefined ? principal : `${tenant}/${principal}`, clientId, commandId }
}

function outcomeOf(result: CommandResult, used?: UsedThread): ReceiptOutcome {
  const seq = used === undefined ? {} : { seq: used.feed.seq }
  switch (result.status) {
    case 'started':
      return { status: 'done', runId: result.runId, ...seq }
    case 'queued':
      return { status: 'done', runId: result.runId, itemId: result.itemId, ...seq }
    case 'done': {
      const { result: data, thread } = result
      const made = thread === undefined ? {} : { thread }
      return { status: 'done', ...made, ...(data === undefined ? {} : { result: data }), ...seq }
    }
    case 'rejected':
      return {
        status: 'rejected',
        reason: result.reason,
        ...(result.message === undefined ? {} : { message: result.message }),
      }
    case 'conflict':
      return { status: 'conflict', message: 'The id was used before, for another command.' }
    case 'expired':
      return { status: 'expired', message: 'The command is too old to know whether it was carried out.' }
  }
}

/** Errors that say something about the command. After any other one it may still be carried out. */
const REFUSALS: Readonly<Partial<Record<string, ReceiptMessage['reason'] & string>>> = {
  'invalid-input': 'invalid',
  'not-found': 'unknown-id',
  unsupported: 'unsupported',
}

function failure(error: unknown, stored: ReceiptOutcome | undefined): ReceiptOutcome {
  if (stored !== undefined) return stored
  const message = error instanceof Error ? error.message : String(error)
  const reason = InspanError.is(error) ? REFUSALS[error.code] : undefined
  return reason === undefined ? { status: 'accepted', message } : { status: 'rejected', reason, message }
}
