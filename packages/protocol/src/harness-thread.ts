import { toTokenUsage, type TokenUsage } from './harness-message.ts'
import type { ThreadInfo } from './store.ts'
import type { UsageTotals } from './usage.ts'

/** A thread as a harness lists it. */
export interface HarnessThread {
  readonly id: string
  readonly resourceId: string
  /** Empty for a thread without a title. */
  readonly title?: string
  readonly createdAt: Date
  readonly updatedAt: Date
  readonly tokenUsage?: TokenUsage
  readonly metadata?: Readonly<Record<string, unknown>>
}

export function toHarnessThread(info: ThreadInfo, usage?: UsageTotals): HarnessThread {
  return {
    id: info.id,
    resourceId: info.resourceId,
    title: info.title ?? '',
    createdAt: new Date(info.createdAt),
    updatedAt: new Date(info.updatedAt),
    ...(usage === undefined ? {} : { tokenUsage: toTokenUsage(usage) }),
    metadata: info.metadata,
  }
}
