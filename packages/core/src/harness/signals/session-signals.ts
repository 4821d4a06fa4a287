import { randomUUID } from 'node:crypto'
import type { HarnessMessage } from '@evener/protocol'
import type { ThreadControl } from '../thread-control.ts'
import type { NotificationInput, NotificationRecord } from './notification.ts'
import type { SentNotification } from './notifications.ts'
import type { SentSignal, SignalInput, SignalRouting, StateSignalResult } from './send-signal.ts'
import type { StateSignal } from './state-lane.ts'
import type { SystemReminder } from './system-reminder.ts'

/** The thread a session looks at, or the one it will have made for the first thing that is said in it. */
export interface CurrentThread {
  ensure(): Promise<ThreadControl>
  get(): ThreadControl | undefined
}

/** What the application tells the thread that a session looks at. */
export class SessionSignals {
  readonly #thread: CurrentThread

  constructor(thread: CurrentThread) {
    this.#thread = thread
  }

  sendSignal(input: SignalInput, routing?: SignalRouting): SentSignal {
    const id = ('id' in input ? input.id : undefined) ?? randomUUID()
    const typed = 'type' in input ? { ...input, id } : input
    const accepted = this.#thread.ensure().then((control) => control.sendSignal(typed, routing).accepted)
    // Whoever does not look at it must not be ended by it.
    accepted.catch(() => undefined)
    return { id, type: 'type' in input ? input.type : 'user', accepted }
  }

  async sendStateSignal(signal: StateSignal): Promise<StateSignalResult> {
    return (await this.#thread.ensure()).sendStateSignal(signal)
  }

  async sendNotificationSignal(input: NotificationInput, routing?: SignalRouting): Promise<SentNotification> {
    return (await this.#thread.ensure()).sendNotificationSignal(input, routing)
  }

  /** `null` when there is no thread to remind. */
  async saveSystemReminderMessage(reminder: SystemReminder): Promise<HarnessMessage | null> {
    return (await this.#thread.get()?.saveSystemReminderMessage(reminder)) ?? null
  }

  /** What is in the inbox of the thread, oldest first. */
  listNotifications(): readonly NotificationRecord[] {
    return this.#thread.get()?.notifications.inbox.list() ?? []
  }
}
