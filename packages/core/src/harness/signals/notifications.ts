import type { Part } from '@inspan/protocol'
import { toHarnessContent, type HarnessEvent } from '@inspan/protocol/harness'
import type { ThreadState } from '@inspan/protocol/log'
import { toWire } from '@inspan/protocol/wire'
import { Mailbox } from '../../common/mailbox.ts'
import type { ControlFact } from '../../engine/index.ts'
import { reportFailure } from '../events/report-errors.ts'
import { Inbox, notificationPart, notificationsOf, putFact, summaryPart } from './inbox.ts'
import {
  deliveryOf,
  priorityRank,
  type DeliveryAction,
  type DeliveryPolicy,
  type NotificationInput,
  type NotificationRecord,
} from './notification.ts'
import { route, type SignalAccepted, type SignalRouting } from './send-signal.ts'
import type { ThreadPort } from './thread-port.ts'

export interface NotificationsOptions {
  readonly port: ThreadPort
  readonly emit: (event: HarnessEvent) => void
  readonly policy?: DeliveryPolicy
  readonly now?: () => number
}

export interface SentNotification {
  readonly id: string
  readonly notification: NotificationRecord
  /** `duplicate`: it was known already. `coalesced`: a waiting one includes it now. */
  readonly action: DeliveryAction | 'duplicate' | 'coalesced'
  /** What happened to it in the conversation, if it was put there. */
  readonly accepted: Promise<SignalAccepted>
  /** `notification` and `action`, under the names that programs written for another library use. */
  readonly record: NotificationRecord
  readonly decision: { readonly action: SentNotification['action'] }
}

const KEPT: SignalAccepted = { accepted: true, action: 'persist' }

/** Delivers notifications from outside to the agent according to their priority. One for each thread. */
export class Notifications {
  readonly inbox: Inbox
  readonly #options: NotificationsOptions
  readonly #now: () => number
  /** One at a time, so that two equal ones sent at once are still recognised. */
  readonly #turns = new Mailbox()

  constructor(options: NotificationsOptions) {
    this.#options = options
    this.#now = options.now ?? Date.now
    this.inbox = new Inbox(options.port)
  }

  /** Resolves when it is on record. */
  async send(given: NotificationInput, routing: SignalRouting = {}): Promise<SentNotification> {
    // A copy, so that later changes by the sender have no effect.
    const input: NotificationInput = toWire(given)
    return this.#turns.post(async () => {
      const known = this.#known(input)
      if (known?.how === 'duplicate') return sent(known.record, 'duplicate', Promise.resolve(KEPT))
      if (known === undefined) return this.#deliver(this.#newRecord(input), routing)
      const record = this.#coalesced(known.record, input)
      // It has a higher priority than those it replaces: they may have been kept quiet, it must not be.
      if (record.priority !== known.record.priority) return this.#deliver(record, routing)
      await this.inbox.put(record)
      this.#options.emit(announcement(record))
      return sent(record, 'coalesced', Promise.resolve(KEPT))
    })
  }

  /**
   * Called after a run: delivers the important notifications that were only named during it. Returns true when that
   * started a run.
   */
  deliverDue(): Promise<boolean> {
    return this.#turns.post(async () => {
      if (this.#options.port.state.head.run !== null) return false
      const due = this.inbox.pending().filter(({ isDue }) => isDue === true)
      if (due.length === 0) return false
      await this.inbox.put(...due.map((record) => this.#delivered(record)))
      await this.#options.port.submit(numbered(due.map(notificationPart)))
      return true
    })
  }

  async #deliver(record: NotificationRecord, routing: SignalRouting): Promise<SentNotification> {
    const { emit, policy, port } = this.#options
    const isActive = port.state.head.run !== null
    const action = deliveryOf(record, isActive, policy)
    switch (action) {
      case 'discard':
        return sent({ ...record, status: 'discarded' }, action, Promise.resolve({ accepted: true, action }))
      case 'deliver': {
        const delivered = this.#delivered(record)
        // Recorded before it is said, so that it is not said again after a crash.
        await this.inbox.put(delivered)
        const accepted = route(port, [notificationPart(record)], { messageId: port.newId() }, routing)
        return sent(delivered, action, reportFailure(accepted, emit))
      }
      case 'persist':
        await this.inbox.put(record)
        emit(announcement(record))
        return sent(record, action, Promise.resolve(KEPT))
      case 'summarize':
      case 'summarize-then-deliver': {
        const kept = action === 'summarize' ? record : { ...record, isDue: true }
        await this.inbox.put(kept)
        emit(announcement(kept))
        if (isActive) await port.record(summaryFacts(port.state, this.inbox.pending(), port.newId))
        return sent(kept, action, Promise.resolve(KEPT))
      }
    }
  }

  #known(input: NotificationInput): { how: 'duplicate' | 'coalesced'; record: NotificationRecord } | undefined {
    const ofSource = this.inbox.list().filter(({ source }) => source === input.source)
    const { coalesceKey, dedupeKey } = input
    const duplicate = ofSource.find((each) => dedupeKey !== undefined && each.dedupeKey === dedupeKey)
    if (duplicate !== undefined) return { how: 'duplicate', record: duplicate }
    const waiting = ofSource.find(
      (each) => coalesceKey !== undefined && each.coalesceKey === coalesceKey && each.status === 'pending',
    )
    return waiting === undefined ? undefined : { how: 'coalesced', record: waiting }
  }

  #newRecord(input: NotificationInput): NotificationRecord {
    const now = this.#now()
    return {
      ...input,
      id: this.#options.port.newId(),
      threadId: this.#options.port.state.head.stream,
      priority: input.priority ?? 'medium',
      status: 'pending',
      coalescedCount: 1,
      createdAt: now,
      updatedAt: now,
    }
  }

  #coalesced(record: NotificationRecord, input: NotificationInput): NotificationRecord {
    const { priority = 'medium' } = input
    return {
      ...record,
      ...input,
      priority: priorityRank(priority) > priorityRank(record.priority) ? priority : record.priority,
      coalescedCount: record.coalescedCount + 1,
      updatedAt: this.#now(),
    }
  }

  #delivered({ isDue: _isDue, ...record }: NotificationRecord): NotificationRecord {
    return { ...record, status: 'delivered', updatedAt: this.#now() }
  }
}

/** Called before a run begins: names what waits in one sentence, so that the agent can ask for it. */
export function summaryBeforeRun(state: ThreadState, newId: () => string): readonly ControlFact[] {
  const unnamed = notificationsOf(state).filter(
    ({ isSummarized, status }) => status === 'pending' && isSummarized !== true,
  )
  return summaryFacts(state, unnamed, newId)
}

function summaryFacts(
  state: ThreadState,
  records: readonly NotificationRecord[],
  newId: () => string,
): readonly ControlFact[] {
  if (records.length === 0) return []
  const messageId = newId()
  const named = records.map((record) => ({ ...record, isSummarized: true }))
  const parts = [summaryPart(records, messageId)]
  return [putFact(state, named), { type: 'message.added', messageId, role: 'user', parts }]
}

function sent(
  notification: NotificationRecord,
  action: SentNotification['action'],
  accepted: Promise<SignalAccepted>,
): SentNotification {
  return { id: notification.id, notification, action, accepted, record: notification, decision: { action } }
}

/** A notification in the inbox is in no message, so nothing else would report it. */
function announcement(record: NotificationRecord): HarnessEvent {
  const content = toHarnessContent(notificationPart(record))
  if (content?.type !== 'notification') throw new TypeError('A notification is shown as one.')
  return { ...content, status: record.status }
}

function numbered(parts: readonly Part[]): readonly Part[] {
  return parts.map((part, index) => ({ ...part, id: String(index) }))
}
