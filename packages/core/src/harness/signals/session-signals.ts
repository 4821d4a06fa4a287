import type { HarnessMessage } from '@inspan/protocol/harness'
import { isFields } from '../checks/check-given.ts'
import { requestContextOf } from '../agents/request-context.ts'
import type { SessionContext } from '../sessions/session-context.ts'
import { reportFailure } from '../events/report-errors.ts'
import { checkNotification, checkReminder, checkRouting, checkSignal, checkStateSignal } from './check-signals.ts'
import type { NotificationInput, NotificationRecord } from './notification.ts'
import type { SentNotification } from './notifications.ts'
import {
  sendSignal,
  sendStateSignal,
  type SentSignal,
  type SignalAccepted,
  type SignalAction,
  type SignalInput,
  type SignalRouting,
  type StateSignalResult,
} from './send-signal.ts'
import type { Signal } from './signal-part.ts'
import type { StateSignal } from './state-lane.ts'
import { saveSystemReminder, type SystemReminder } from './system-reminder.ts'

/** Sends the application's signals to the thread that a session is bound to. */
export class SessionSignals {
  readonly #session: SessionContext

  constructor(session: SessionContext) {
    this.#session = session
  }

  sendSignal(input: SignalInput, routing?: SignalRouting): SentSignal {
    const { id = this.#session.core.newId(), type = 'user' } = (isFields(input) ? input : {}) as Partial<Signal>
    const accepted = reportFailure(this.#send(input, id, routing), (event) => this.#session.binding.emit(event))
    return { id, type, accepted }
  }

  async #send(input: SignalInput, id: string, routing: SignalRouting = {}): Promise<SignalAccepted> {
    checkSignal(input)
    checkRouting(routing)
    const { control } = await this.#session.lifecycle.ensure()
    const context = requestContextOf('requestContext' in input ? input.requestContext : undefined)
    const recorded = this.#session.conversation.keepContext(id, context)
    let action: SignalAction | undefined
    try {
      const accepted = await sendSignal(control.port, { ...input, id }, routing, recorded)
      ;({ action } = accepted)
      return accepted
    } finally {
      if (action !== 'wake' && action !== 'deliver') this.#session.core.contexts.drop(id)
    }
  }

  async sendStateSignal(signal: StateSignal): Promise<StateSignalResult> {
    checkStateSignal(signal)
    return sendStateSignal((await this.#session.lifecycle.ensure()).control.port, signal)
  }

  async sendNotificationSignal(input: NotificationInput, routing: SignalRouting = {}): Promise<SentNotification> {
    checkNotification(input)
    checkRouting(routing)
    return (await this.#session.lifecycle.ensure()).control.notifications.send(input, routing)
  }

  /** `null` when there is no thread to remind. */
  async saveSystemReminderMessage(reminder: SystemReminder): Promise<HarnessMessage | null> {
    checkReminder(reminder)
    const { thread } = this.#session.binding
    return thread === undefined ? null : saveSystemReminder(thread.control.port, reminder)
  }

  /** Returns the inbox of the thread, oldest first. */
  listNotifications(): readonly NotificationRecord[] {
    return this.#session.binding.thread?.control.notifications.inbox.list() ?? []
  }
}
