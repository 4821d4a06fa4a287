import { InspanError } from '@inspan/protocol'
import { anObject, aText, checkFields, oneOf } from '@inspan/protocol/internal'
import { configuredNote, type CancelReceipt, type ThreadState } from '@inspan/protocol/log'
import type { CommandKey } from '@inspan/protocol/store'
import {
  COMMAND_TYPES,
  type CommandResult,
  type ForkCommand,
  type RevokeCommand,
  type RewindCommand,
} from '@inspan/protocol/wire'
import { checkAnswer } from '../checks/check-answer.ts'
import { checkSubmission } from '../checks/check-submission.ts'
import { deleteThread } from '../erase/delete-thread.ts'
import { remembered } from '../rules/remembered.ts'
import type { ThreadPolicy } from '../rules/thread-policy.ts'
import type { Runs } from '../runs/runs.ts'
import type { ConfigChange, ThreadRuntimeOptions } from '../thread-options.ts'
import { boundaryAt, forkPoint } from '../threads/boundaries.ts'
import type { Doors } from '../threads/doors.ts'
import { noSuchThread } from '../threads/read-thread.ts'
import type { ThreadHold } from '../threads/thread-hold.ts'
import type { ThreadLease } from '../threads/thread-lease.ts'
import { forkThread, rewindThread } from '../threads/threads.ts'
import { timeOrderedId } from '../../common/time-ordered-id.ts'
import { isForeign, isWaitingForChildren, type RunHandle } from '../turns/active-run.ts'
import { answerConflict, isConflictWait, rewind } from './rewind.ts'
import { derivedId, KeyedCommand, rejectReason, settleNothing, type Settle } from './ledger.ts'
import {
  answerOf,
  changeOf,
  queuedItem,
  reordered,
  submissionOf,
  waitIdOf,
  type Configuring,
  type ThreadCommand,
} from './thread-command.ts'

export interface CommandPorts {
  /** What the door of the open run gave. */
  readonly options: ThreadRuntimeOptions
  readonly doors: Doors
  readonly runs: Runs
  readonly policy: ThreadPolicy
  readonly lease: ThreadLease
  readonly close: () => Promise<void>
}

/** What came of a command, for callers in this process. */
export interface Carried {
  readonly result: CommandResult
  readonly handle?: RunHandle
  readonly receipt?: CancelReceipt
  /** Of a rewind: takes it back. */
  readonly undo?: () => Promise<void>
}

/** How one command is carried out. */
interface Order {
  readonly key?: CommandKey
  readonly keyed?: KeyedCommand
  readonly settle: Settle
}

const DONE: CommandResult = { status: 'done' }

/** Carries out commands, each once: the outcome is stored with the commit that makes the effect irrevocable. */
export class Commands {
  readonly #ports: CommandPorts
  /** Keyed commands being carried out: the same one sent again gets the same result. */
  readonly #underWay = new Map<string, Promise<CommandResult>>()

  constructor(ports: CommandPorts) {
    this.#ports = ports
  }

  /** Returns what was decided. Throws only if nobody knows yet: the command stays accepted and may be sent again. */
  async execute(command: ThreadCommand, key?: CommandKey): Promise<CommandResult> {
    // A dry run changes nothing, and its answer is not stored.
    if (key === undefined || (command.type === 'rewind' && command.dryRun === true)) {
      try {
        return (await this.carryOut(command)).result
      } catch (error) {
        const reason = this.#isLost() ? undefined : rejectReason(error)
        if (reason === undefined) throw error
        return { status: 'rejected', reason, message: (error as Error).message }
      }
    }
    return this.#queued(key, () => this.#once(command, key))
  }

  /** Carries out a command from the table, which whoever admitted it has checked. */
  executeAccepted(command: ThreadCommand, key: CommandKey): Promise<CommandResult> {
    return this.#queued(key, () => this.#settled(command, key, new KeyedCommand(this.#ports.options.store, key)))
  }

  /** The same command sent again waits for the first one, and then finds its result. */
  async #queued(key: CommandKey, task: () => Promise<CommandResult>): Promise<CommandResult> {
    const id = JSON.stringify([key.principal, key.clientId, key.commandId])
    const before = this.#underWay.get(id)?.catch(() => undefined)
    const result = Promise.resolve(before).then(task)
    this.#underWay.set(id, result)
    try {
      return await result
    } finally {
      if (this.#underWay.get(id) === result) this.#underWay.delete(id)
    }
  }

  async #once(command: ThreadCommand, key: CommandKey): Promise<CommandResult> {
    const { options } = this.#ports
    const keyed = new KeyedCommand(options.store, key)
    const known = await keyed.admit(command, options.thread, (options.now ?? Date.now)())
    return known ?? this.#settled(command, key, keyed)
  }

  async #settled(command: ThreadCommand, key: CommandKey, keyed: KeyedCommand): Promise<CommandResult> {
    try {
      const { result } = await this.carryOut(command, { key, keyed, settle: keyed.settle })
      return await keyed.conclude(result)
    } catch (error) {
      return keyed.fail(error, this.#isLost())
    }
  }

  /** Whether the log has failed: an error then says nothing about the command. */
  #isLost(): boolean {
    return this.#ports.lease.failure !== undefined
  }

  async carryOut(command: ThreadCommand, order: Order = { settle: settleNothing }): Promise<Carried> {
    checkFields('a command', command, { type: oneOf(...COMMAND_TYPES) }, ['type'])
    const { settle } = order
    switch (command.type) {
      case 'submit':
      case 'steer':
      case 'follow-up':
        return this.#say(command, order)
      case 'answer':
      case 'approve':
      case 'deny':
        return this.#answer(command, order)
      case 'cancel':
        return this.#cancel(command, order)
      case 'configure':
      case 'mode':
      case 'model':
      case 'rename':
        return this.#configure(command, order)
      case 'revoke':
        return command.scope === 'resource' ? this.#revoke(command, order) : this.#configure(command, order)
      case 'queue-edit':
      case 'queue-move':
        return this.#turn(command, order, async ({ log }) => {
          await log.commit(reordered(command, log.state), {}, settle(DONE))
          return { result: DONE }
        })
      case 'queue-remove':
        return this.#turn(command, order, async ({ log }) => {
          const { id: itemId } = queuedItem(command.itemId, log.state.head)
          await log.commit([{ type: 'queue.removed', itemId, reason: 'dropped' }], {}, settle(DONE))
          return { result: DONE }
        })
      case 'fork':
        return this.#turn(command, order, (hold) => this.#fork(command, order, hold))
      case 'rewind':
        return this.#rewind(command, order)
      case 'delete':
        return this.#delete(order)
      case 'resume':
        throw new InspanError('unsupported', 'A thread cannot open another session.', {
          hint: 'Open the thread of that session, and submit to it.',
        })
    }
  }

  /** Carries out a task in the mailbox, unless the command is settled by then or its sender expected something else. */
  #turn(command: ThreadCommand, { keyed }: Order, task: (hold: ThreadHold) => Promise<Carried>): Promise<Carried> {
    return this.#ports.lease.inTurn(async (hold) => {
      const known = await keyed?.result()
      if (known !== undefined) return { result: known }
      await this.#assertExpected(command, hold)
      return await task(hold)
    })
  }

  async #assertExpected({ expect }: ThreadCommand, { log }: ThreadHold): Promise<void> {
    if (expect === undefined) return
    this.#assertRun(expect.runId)
    if (expect.headMessageId === undefined) return
    const { head, messages } = log.state
    const { items } = await this.#ports.options.store.listMessages(head.lineage, { order: 'newest', limit: 1 })
    const newest = [...messages].at(-1)?.id ?? items[0]?.id ?? null
    if (newest !== expect.headMessageId) throw unexpected('wrong-anchor', `The newest message is ${String(newest)}.`)
  }

  #assertRun(expected: string | null | undefined): void {
    const runId = this.#ports.lease.state.head.run?.runId ?? null
    if (expected === undefined || expected === runId) return
    throw unexpected('wrong-run', runId === null ? 'No run is open.' : `The open run is ${runId}.`)
  }

  #say(command: Extract<ThreadCommand, { type: 'submit' | 'steer' | 'follow-up' }>, order: Order): Promise<Carried> {
    const { options, runs } = this.#ports
    return this.#turn(command, order, async ({ log }) => {
      const said = submissionOf(command, log.state, options)
      await checkSubmission(said, log.state, options.store)
      const by = said.by ?? order.key?.principal
      const submission = by === undefined ? said : { ...said, by }
      const { run } = log.state.head
      if (run === null) {
        const handle = await runs.start(submission, { settle: order.settle })
        return { result: { status: 'started', runId: handle.runId }, handle }
      }
      const isAtOnce =
        command.type === 'submit' ||
        (command.type === 'steer' && (run.status !== 'parked' || isWaitingForChildren(log.state)))
      if (isAtOnce) {
        const { handle, itemId } = await runs.steer(submission, run, order.settle)
        return { result: { status: 'queued', itemId, runId: run.runId }, handle }
      }
      const item = runs.queueItem(command.type, submission)
      const result: CommandResult = { status: 'queued', itemId: item.id, runId: run.runId }
      await log.commit([{ type: 'queue.added', item }], {}, order.settle(result))
      return { result, handle: runs.handleOf(run.runId) }
    })
  }

  #answer(command: Extract<ThreadCommand, { type: 'answer' | 'approve' | 'deny' }>, order: Order): Promise<Carried> {
    const { doors, policy, runs } = this.#ports
    const by = ('by' in command ? command.by : undefined) ?? order.key?.principal
    return this.#turn(command, order, async ({ waitManager, log }) => {
      const waitId = waitIdOf(command, log.state)
      checkFields('an answer', { waitId }, { waitId: aText }, ['waitId'])
      const { active } = runs
      const asked = log.state.head
      const wait = asked.waits.get(waitId)
      if (wait === undefined) throw await waitManager.noSuchWait(waitId)
      const answer = answerOf(command, wait)
      checkAnswer(wait, answer, by)
      if (isConflictWait(wait)) {
        const given = { wait, answer, ...(by === undefined ? {} : { by }) }
        return { result: await answerConflict(log, this.#ports.options, given, order.settle) }
      }
      // The run of a door that is absent goes on when that is back.
      const isAtRest = active === undefined && asked.run !== null && doors.of(asked.run) !== undefined
      const atRest = isAtRest ? await runs.beforeAnswer(asked.run) : undefined
      const { run, waits } = log.state.head
      if (!waits.has(waitId)) throw await waitManager.noSuchWait(waitId)
      const more = [
        ...(doors.current(log.state).withAnswer?.(wait, answer) ?? []),
        ...(await remembered(wait, answer, { policy, runs, active, by })),
      ]
      const isDetached = run !== null && run.turnId === null
      const extras = order.settle(DONE)
      const isHeard = await waitManager.answer({
        waitId,
        answer,
        more,
        isDetached,
        extras,
        ...(by === undefined ? {} : { by }),
      })
      if (isHeard && active !== undefined) runs.deliverSteered(active)
      if (!isHeard && atRest !== undefined && run !== null) await runs.afterAnswer(run, atRest)
      return { result: DONE }
    })
  }

  /** An active turn is cancelled at once. Otherwise the mailbox decides: a run that is just being started is not parked. */
  async #cancel(command: Extract<ThreadCommand, { type: 'cancel' }>, order: Order): Promise<Carried> {
    const { lease, runs } = this.#ports
    lease.assertOpen()
    let { active } = runs
    if (active === undefined) {
      const parked = await this.#turn(command, order, async () => {
        active = runs.active
        return active === undefined
          ? { result: DONE, receipt: await runs.cancelParked(order.settle) }
          : { result: DONE }
      })
      if (active === undefined || parked.result !== DONE) return parked
    }
    this.#assertRun(command.expect?.runId)
    const receipt = await runs.cancel(active, order.settle)
    if (lease.failure !== undefined && order.keyed !== undefined) throw lease.failure
    return { result: DONE, receipt }
  }

  /** Rules, grants and yolo apply from the moment of the call. */
  async #configure(command: Configuring, order: Order): Promise<Carried> {
    const { lease, policy, runs } = this.#ports
    const written = policy.announce(changeOf(command, lease.state))
    try {
      return await this.#turn(command, order, async ({ log }) => {
        const change = this.#chosen(command, log.state)
        const { capabilities } = runs.active ?? {}
        const note = configuredNote(change, log.state.head, capabilities !== undefined && isForeign(capabilities))
        const noted = note === undefined ? change : { ...change, settings: { ...change.settings, ...note } }
        await log.commit([{ type: 'config.changed', ...noted }], {}, order.settle(DONE))
        return { result: DONE }
      })
    } finally {
      written()
    }
  }

  /** What was allowed for the resource is on record elsewhere; that may be repeated, so the outcome is written after it. */
  #revoke(command: RevokeCommand, order: Order): Promise<Carried> {
    return this.#turn(command, order, async ({ log }) => {
      await this.#ports.policy.revoke(command, order.key?.principal)
      await log.commit([], {}, order.settle(DONE))
      return { result: DONE }
    })
  }

  /** A door may know what else changes with a mode, a model or an agent. */
  #chosen(command: Configuring, state: ThreadState): ConfigChange {
    const change = changeOf(command, state)
    if (change.mode === undefined && change.model === undefined && change.agentId === undefined) return change
    const { doors, options } = this.#ports
    const named = 'door' in command ? doors.named(command.door) : undefined
    return (named ?? options).withChoice?.(change, state) ?? change
  }

  /** The fork is the home of its command: it is made together with the outcome, under an id that follows from the key. */
  async #fork({ messageId, title }: ForkCommand, { key, keyed }: Order, { log }: ThreadHold): Promise<Carried> {
    const { newId = timeOrderedId, owner, store, thread, now = Date.now } = this.#ports.options
    await log.flush()
    const info = await store.getThread(thread)
    if (info === null) throw noSuchThread(thread)
    const at = await forkPoint(store, log.state, messageId)
    const id = key === undefined ? newId() : derivedId(key)
    const result: CommandResult = { status: 'done', thread: id }
    const outcomes = keyed === undefined ? [] : [keyed.outcome(result)]
    const fork = { id, at, resourceId: info.resourceId, now: now(), ...(title === undefined ? {} : { title }) }
    await forkThread(store, owner, log.state, fork, outcomes)
    keyed?.settle(result)
    return { result }
  }

  #rewind(command: RewindCommand, order: Order): Promise<Carried> {
    return this.#turn(command, order, async ({ log }) => {
      const { lease, options } = this.#ports
      const { store } = options
      const { lineage, seq } = log.state.head
      const end = await boundaryAt(store, lineage, seq)
      const result = await rewind(log, options, command, order.settle)
      if (log.state.head.lineage === lineage) return { result }
      return { result, undo: () => lease.inTurn((hold) => rewindThread(store, hold.log, end, lineage)) }
    })
  }

  async #delete({ keyed, settle }: Order): Promise<Carried> {
    const { close, lease, options } = this.#ports
    lease.assertOpen()
    await close()
    const outcome = keyed?.outcome(DONE)
    await options.files?.forget?.(options.thread)
    const { owner, spool, store, thread } = options
    await deleteThread(store, owner, thread, {
      ...(outcome === undefined ? {} : { outcome }),
      ...(spool === undefined ? {} : { spool }),
    })
    settle(DONE)
    return { result: DONE }
  }
}

function unexpected(reason: 'wrong-run' | 'wrong-anchor', found: string): InspanError {
  return new InspanError('conflict', `The thread is not as the sender of the command saw it. ${found}`, {
    details: { reason },
  })
}

/** Throws if a key is not one. */
export function checkKey(key: CommandKey): void {
  checkFields('the key of a command', { key }, { key: anObject }, ['key'])
  checkFields('the key of a command', key, { principal: aText, clientId: aText, commandId: aText }, [
    'principal',
    'clientId',
    'commandId',
  ])
}
