import { createHash } from 'node:crypto'
import { InspanError } from '@inspan/protocol'
import type { CommandResult, RejectReason } from '@inspan/protocol/wire'
import { asJson } from '@inspan/protocol/log'
import { commandIdTime, type Admission, type CommandKey, type CommandOutcome, type Store } from '@inspan/protocol/store'
import type { CommitExtras } from '../log/thread-log.ts'
import { assertJson } from '../checks/assert-json.ts'
import type { ThreadCommand } from './thread-command.ts'
import { messageOf } from '../../common/message-of.ts'

/** Executions that fail for a reason nobody knows, after which a command is given up. */
const MAX_FAILURES = 3

/** Returns what is written in the transaction of a command's effect. */
export type Settle = (result: CommandResult) => CommitExtras

/** For a command without a key, which leaves no outcome. */
export const settleNothing: Settle = () => ({})

/** Returns what is written for the commands that cancelled a run. */
export function allSettled(settles: readonly Settle[]): CommitExtras {
  return { outcomes: settles.flatMap((settle) => settle({ status: 'done' }).outcomes ?? []) }
}

/** One command with its key in the store's table: admitted once, settled once. */
export class KeyedCommand {
  readonly #store: Store
  readonly #key: CommandKey
  /** Whether the outcome is part of a commit. */
  #isWritten = false

  constructor(store: Store, key: CommandKey) {
    this.#store = store
    this.#key = key
  }

  /** Stores the command. Returns its result if there is one already. */
  async admit(command: ThreadCommand, target: string, at: number): Promise<CommandResult | undefined> {
    const admission = await admitCommand(this.#store, { command, key: this.#key, target, at })
    if (admission.status === 'conflict' || admission.status === 'expired') return { status: admission.status }
    const { outcome, state, target: known } = admission.command
    if (known !== target) return { status: 'conflict' }
    return state === 'done' ? (outcome as CommandResult) : undefined
  }

  /** Returns the stored result, if the command is settled. */
  async result(): Promise<CommandResult | undefined> {
    const row = await this.#store.getCommand(this.#key)
    return row?.state === 'done' ? (row.outcome as unknown as CommandResult) : undefined
  }

  readonly settle: Settle = (result) => {
    this.#isWritten = true
    return { outcomes: [this.outcome(result)] }
  }

  outcome(result: CommandResult): CommandOutcome {
    return { key: this.#key, outcome: asJson(idsOnly(result)) }
  }

  /** Stores the result of a command that changed no stream. */
  async conclude(result: CommandResult): Promise<CommandResult> {
    if (this.#isWritten) return result
    const isFirst = await this.#store.settleCommand(this.outcome(result))
    return isFirst ? result : ((await this.result()) ?? result)
  }

  /** Decides what becomes of a command whose execution threw. Throws again if it stays accepted. */
  async fail(error: unknown, isLogLost: boolean): Promise<CommandResult> {
    // Another process, or an earlier attempt, may have been faster.
    const known = await this.result().catch(() => undefined)
    if (known !== undefined) return known
    this.#isWritten = false
    const reason = isLogLost ? undefined : rejectReason(error)
    if (reason !== undefined) return this.conclude({ status: 'rejected', reason, message: messageOf(error) })
    if (isLogLost || InspanError.is(error)) throw error
    if ((await this.#store.failCommand(this.#key)) < MAX_FAILURES) throw error
    return this.conclude({ status: 'rejected', reason: 'failed', message: messageOf(error) })
  }
}

/**
 * Writes a command down for whoever owns its thread, which need not be open here. Once it is accepted, it is carried
 * out or rejected, whatever dies meanwhile.
 */
export function admitCommand(
  store: Store,
  { command, key, target, at }: { command: ThreadCommand; key: CommandKey; target: string; at: number },
): Promise<Admission> {
  assertJson('A command', command)
  const body = asJson(command)
  return store.admitCommand({ key, bodyHash: hashOf(body), target, body, at })
}

/** What is stored: a resend gets no message and no data, because these may quote content. */
function idsOnly(result: CommandResult): CommandResult {
  if (result.status === 'rejected') return { status: 'rejected', reason: result.reason }
  if (result.status !== 'done') return result
  return { status: 'done', ...(result.thread === undefined ? {} : { thread: result.thread }) }
}

const REFUSALS: { readonly [code: string]: RejectReason } = {
  'invalid-input': 'invalid',
  'already-exists': 'invalid',
  'not-found': 'unknown-id',
  misuse: 'wrong-state',
  conflict: 'wrong-state',
  unsupported: 'unsupported',
  'policy-unsupported': 'denied',
}

/** Returns why a command is refused by its input or the state of its thread; `undefined` for every other failure. */
export function rejectReason(error: unknown): RejectReason | undefined {
  if (!InspanError.is(error)) return undefined
  const { reason, state } = error.details as { reason?: RejectReason; state?: string }
  if (reason !== undefined) return reason
  return error.code === 'conflict' && state !== undefined ? 'already-answered' : REFUSALS[error.code]
}

/** Returns an id that is the same whenever the command is carried out, for what it makes elsewhere. */
export function derivedId({ principal, clientId, commandId }: CommandKey): string {
  const hash = createHash('sha256')
    .update(JSON.stringify([principal, clientId, commandId]))
    .digest('hex')
  const time = (commandIdTime(commandId) ?? 0).toString(16).padStart(12, '0')
  return `${time.slice(0, 8)}-${time.slice(8)}-7${hash.slice(0, 3)}-8${hash.slice(3, 6)}-${hash.slice(6, 18)}`
}

function hashOf(body: unknown): string {
  return createHash('sha256')
    .update(JSON.stringify(sorted(body)))
    .digest('hex')
}

/** The order of keys means nothing. */
function sorted(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(sorted)
  if (typeof value !== 'object' || value === null) return value
  return Object.fromEntries(
    Object.entries(value)
      .sort(([a], [b]) => (a < b ? -1 : 1))
      .map(([key, each]) => [key, sorted(each)]),
  )
}
