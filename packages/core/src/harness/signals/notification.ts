import type { JsonObject, JsonValue } from '@inspan/protocol'
import type { NotificationPriority, NotificationStatus } from '@inspan/protocol/harness'
import type { SignalAttributes } from './signal-xml.ts'

export interface NotificationInput {
  /** The source, e.g. `github`. */
  readonly source: string
  /** Its kind within the source, e.g. `ci-status`. */
  readonly kind: string
  readonly summary: string
  readonly priority?: NotificationPriority
  readonly payload?: JsonValue
  readonly sourceId?: string
  /** A notification with the key of an earlier one is a duplicate and is ignored. */
  readonly dedupeKey?: string
  /** The newest with this key replaces earlier ones that nobody has read. */
  readonly coalesceKey?: string
  readonly attributes?: SignalAttributes
  readonly metadata?: JsonObject
}

export interface NotificationRecord extends NotificationInput {
  readonly id: string
  readonly threadId: string
  readonly priority: NotificationPriority
  readonly status: NotificationStatus
  /** The number of events it combines. */
  readonly coalescedCount: number
  /** Named in a summary during a run, and to be delivered in full when the thread is idle. */
  readonly isDue?: boolean
  /** A summary has named it. */
  readonly isSummarized?: boolean
  readonly createdAt: number
  readonly updatedAt: number
}

/**
 * `deliver`: in full, now. `summarize`: counted in a summary. `persist`: kept in the inbox, and named before the next
 * run like everything unread. `discard`: not kept at all.
 */
export type DeliveryAction = 'deliver' | 'summarize' | 'summarize-then-deliver' | 'persist' | 'discard'

export type DeliveryRule =
  | DeliveryAction
  | { readonly active: DeliveryAction; readonly idle: Exclude<DeliveryAction, 'summarize-then-deliver'> }

/** Consulted in this order; the first that decides wins. */
export interface DeliveryPolicy {
  readonly decide?: (notification: NotificationRecord, isActive: boolean) => DeliveryAction | undefined
  readonly sources?: Readonly<Record<string, DeliveryRule>>
  readonly priorities?: Partial<Readonly<Record<NotificationPriority, DeliveryRule>>>
}

const DEFAULTS: Readonly<Record<NotificationPriority, DeliveryRule>> = {
  urgent: 'deliver',
  high: { active: 'summarize-then-deliver', idle: 'deliver' },
  medium: { active: 'summarize', idle: 'deliver' },
  low: 'summarize',
}

/** Lowest first. */
export const PRIORITIES: readonly NotificationPriority[] = ['low', 'medium', 'high', 'urgent']

export function deliveryOf(
  notification: NotificationRecord,
  isActive: boolean,
  policy: DeliveryPolicy = {},
): DeliveryAction {
  const decided = policy.decide?.(notification, isActive)
  if (decided !== undefined) return decided
  const { priority, source } = notification
  const bySource =
    policy.sources !== undefined && Object.hasOwn(policy.sources, source) ? policy.sources[source] : undefined
  const rule = bySource ?? policy.priorities?.[priority] ?? DEFAULTS[priority]
  return typeof rule === 'string' ? rule : rule[isActive ? 'active' : 'idle']
}

export function priorityRank(priority: NotificationPriority): number {
  return PRIORITIES.indexOf(priority)
}
