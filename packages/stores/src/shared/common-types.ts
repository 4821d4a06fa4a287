import type { RecordType } from '@inspan/protocol/log'

/** Record types that every turn writes. Part of the layouts: once released, a change of the list needs new ones. */
export const COMMON_TYPES: readonly RecordType[] = [
  'message.added',
  'message.started',
  'message.ended',
  'run.started',
  'run.ended',
  'turn.started',
  'turn.ended',
  'step.started',
  'step.ended',
  'text-delta',
  'reasoning-delta',
  'tool-call',
  'call.started',
  'tool-result',
]

export function isRare(type: string): boolean {
  return !COMMON_TYPES.some((common) => common === type)
}
