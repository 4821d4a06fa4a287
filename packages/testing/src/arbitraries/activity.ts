import type { ActivityBase, ActivityEvent, ActivityNote } from '@inspan/protocol'
import * as fc from 'fast-check'
import { arbitraryCount, arbitraryId, arbitraryJsonValue, arbitraryText, arbitraryTime } from './json.ts'
import { listOf, shape } from './shape.ts'

type ActivityFields<T> = { readonly [K in keyof T]-?: fc.Arbitrary<Exclude<T[K], undefined>> }
type OwnOf<Type extends ActivityEvent['type']> = Omit<
  Extract<ActivityEvent, { type: Type }>,
  keyof ActivityBase | 'type'
>

/** One activity of a type. `optional` holds the fields it may leave out. */
function activity<Type extends ActivityEvent['type'], Required extends keyof OwnOf<Type>>(
  type: Type,
  required: ActivityFields<Pick<OwnOf<Type>, Required>>,
  optional: ActivityFields<Omit<OwnOf<Type>, Required>>,
): fc.Arbitrary<ActivityEvent> {
  const fields: Record<string, fc.Arbitrary<unknown>> = {
    type: fc.constant(type),
    timestamp: arbitraryTime.map((at) => new Date(at).toISOString()),
    ...required,
  }
  return shape<Record<string, unknown>>(fields, {
    sessionId: arbitraryId,
    ...optional,
  }) as fc.Arbitrary<unknown> as fc.Arbitrary<ActivityEvent>
}

const path = arbitraryText
const isSuccess = fc.boolean()
const lines = { startLine: arbitraryCount, endLine: arbitraryCount, isSuccess }

export const arbitraryActivityEvent: fc.Arbitrary<ActivityEvent> = fc.oneof(
  activity('agent', { message: arbitraryText }, {}),
  activity(
    'command',
    { command: arbitraryText },
    { workingDirectory: path, exitCode: fc.integer({ min: -1, max: 255 }), isSuccess },
  ),
  activity('read', { path }, lines),
  activity('write', { path }, lines),
  activity('search', { query: arbitraryText }, { path, isSuccess }),
  activity('list', {}, { path, isSuccess }),
  activity('skill', { path }, { ...lines, skillName: arbitraryText }),
  activity(
    'orchestration',
    { action: fc.constantFrom('subagent_started', 'subagent_completed', 'subagent_failed') },
    { subagentId: arbitraryId, subagentName: arbitraryText, isSuccess },
  ),
  activity('error', { message: arbitraryText }, { code: arbitraryText }),
  activity('warning', { message: arbitraryText }, { code: arbitraryText }),
  activity('unknown', { raw: arbitraryJsonValue }, {}),
)

export const arbitraryActivityNote: fc.Arbitrary<ActivityNote> = shape<ActivityNote>(
  {
    mapper: fc.constantFrom('claude-code', 'codex', 'native'),
    version: fc.integer({ min: 1, max: 9 }),
    events: listOf(arbitraryActivityEvent, 2),
  },
  {},
)
