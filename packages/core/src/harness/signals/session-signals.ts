import type { RequestContext } from '@inspan/agent'
import type { JsonObject } from '@inspan/protocol'
import type { HarnessEvent, HarnessMessage } from '@inspan/protocol/harness'
import { isFields } from '../checks/check-given.ts'
import { requestContextOf } from '../agents/request-context.ts'
import type { ThreadControl } from '../threads/thread-control.ts'
import { told } from '../events/told.ts'
import { checkNotification, checkReminder, checkRouting, checkSignal, checkStateSignal } from './check-signals.ts'
import type { NotificationInput, NotificationRecord } from './notification.ts'
import type { SentNotification } from './notifications.ts'
import type {
  SentSignal,
  SignalAccepted,
  SignalAction,
  SignalInput,
  SignalRouting,
  StateSignalResult,
} from './send-signal.ts'
import type { Signal } from './signal-part.ts'
import type { StateSignal } from './state-lane.ts'
import type { SystemReminder } from './system-reminder.ts'

/** The thread a session is bound to, or the one that is created for the first signal. */
export interface CurrentThread {
  newId(): string
  /** Keeps the context of a message for the run that will hear it; returns the part that is recorded. */
  keepContext(messageId: string, context: RequestContext): JsonObject
  dropContext(messageId: string): void
  emit(event: HarnessEvent): void
  ensure(): Promise<ThreadControl>
  get(): ThreadControl | undefined
}

/** Sends the application's signals to the thread that a session is bound to. */
export class SessionSignals {
  readonly #thread: CurrentThread

  constructor(thread: CurrentThread) {
    this.#thread = thread
  }

  sendSignal(input: SignalInput, routing?: SignalRouting): SentSignal {
    const { id = this.#thread.newId(), type = 'user' } = (isFields(input) ? input : {}) as Partial<Signal>
    const accepted = told(this.#send(input, id, routing), (event) => this.#thread.emit(event))
    return { id, type, accepted }
  }

  async #send(input: SignalInput, id: string, routing: SignalRouting = {}): Promise<SignalAccepted> {
    checkSignal(input)
    checkRouting(routing)
    const control = await this.#thread.ensure()
    const context = requestContextOf('requestContext' in input ? input.requestContext : undefined)
    const recorded = this.#thread.keepContext(id, context)
    let action: SignalAction | undefined
    try {
      const accepted = await control.sendSignal({ ...input, id }, routing, recorded)
      ;({ action } = accepted)
      return accepted
    } finally {
      if (action !== 'wake' && action !== 'deliver') this.#thread.dropContext(id)
    }
  }

  async sendStateSignal(signal: StateSignal): Promise<StateSignalResult> {
    checkStateSignal(signal)
    return (await this.#thread.ensure()).sendStateSignal(signal)
  }

  async sendNotificationSignal(input: NotificationInput, routing: SignalRouting = {}): Promise<SentNotification> {
    checkNotification(input)
    checkRouting(routing)
    return (await this.#thread.ensure()).sendNotificationSignal(input, routing)
  }

  /** `null` when there is no thread to remind. */
  async saveSystemReminderMessage(reminder: SystemReminder): Promise<HarnessMessage | null> {
    checkReminder(reminder)
    return (await this.#thread.get()?.saveSystemReminderMessage(reminder)) ?? null
  }

  /** Returns the inbox of the thread, oldest first. */
  listNotifications(): readonly NotificationRecord[] {
    return this.#thread.get()?.notifications.inbox.list() ?? []
  }
}
