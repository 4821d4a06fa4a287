import type { AgentEvent, JsonValue, UsageMetadata } from '@inspan/protocol'
import type { ToolOutcome } from '@inspan/protocol/driver'
import { assertJson } from './assert-json.ts'

/**
 * Throws if an event cannot be recorded, before anything was done with it: what is recorded by half never ends. Drops
 * usage that cannot be counted.
 */
export function checkedEvent(event: AgentEvent): AgentEvent {
  switch (event.type) {
    case 'text-delta':
    case 'reasoning-delta':
    case 'tool-call-delta':
    case 'tool-progress':
      // These events are very many, and nearly always hold only text.
      if (event.meta !== undefined || event.native !== undefined || event.activity !== undefined) assertSaid(event)
      return event
    case 'tool-result': {
      assertSaid(event)
      const { result }: { readonly result: JsonValue | undefined } = event
      return result === undefined ? { ...event, result: null } : event
    }
    case 'step-finish':
    case 'finish':
      assertSaid(event)
      return event.usage === undefined ? event : { ...event, usage: countable(event.usage) }
    default:
      assertSaid(event)
      return event
  }
}

/** Like `checkedEvent`, for the result of a tool: the model gets the error, and the run goes on. */
export function checkedOutcome(outcome: ToolOutcome, toolName: string): ToolOutcome {
  assertJson(`The result of ${toolName}`, outcome)
  const { result }: { readonly result: JsonValue | undefined } = outcome
  return result === undefined ? { ...outcome, result: null } : outcome
}

function assertSaid(event: AgentEvent): void {
  assertJson('What the agent says', event)
}

function countable(usage: UsageMetadata): UsageMetadata {
  const counts = Object.entries(usage) as [string, unknown][]
  if (counts.every(([, count]) => isCount(count))) return usage
  return Object.fromEntries(counts.filter(([, count]) => isCount(count)))
}

function isCount(count: unknown): boolean {
  return typeof count === 'number' && Number.isFinite(count) && count >= 0
}
