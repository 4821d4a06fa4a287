import { InspanError } from '@inspan/protocol'
import { isSafeSegment, type LogRecord, type RecordBody } from '@inspan/protocol/log'
import { assertJson } from '../checks/assert-json.ts'
import { extractBody, type Extracted } from './blobs.ts'
import { frozenCopy } from '../../common/frozen.ts'

/** Where a record comes from: its run and turn, its cause, and who did it. */
export type RecordOrigin = Pick<LogRecord, 'run' | 'turn' | 'cause' | 'by'>

/**
 * Returns a frozen copy of the body without its large contents, ready to be recorded. Throws if it cannot be recorded.
 * A copy, because the caller may change its own object later.
 */
export function prepared(whole: RecordBody, redact?: (body: RecordBody) => RecordBody): Extracted<RecordBody> {
  const isExact = assertJson('What is to be recorded', whole)
  assertSafeIds(whole)
  // The value as it will be read back: what is shown before the write must be the same.
  const written = isExact ? whole : (JSON.parse(JSON.stringify(whole)) as RecordBody)
  const { body, blobs } = extractBody(redact === undefined ? written : redact(written))
  return { body: frozenCopy(body), blobs }
}

export function assertOrigin(origin: RecordOrigin): void {
  for (const key of Object.keys(origin)) {
    const value: unknown = origin[key as keyof RecordOrigin]
    if (value !== undefined && typeof value !== 'string')
      throw new InspanError('invalid-input', `\`${key}\` of a record has to be a string.`)
  }
}

/** These ids become path segments on the wire, so an id that reaches a prototype is refused at the entrance. */
export function assertSafeIds(body: RecordBody): void {
  const id = segmentOf(body)
  if (id !== undefined && !isSafeSegment(id)) {
    throw new InspanError('invalid-input', `${JSON.stringify(id)} cannot be used as an id.`)
  }
}

function segmentOf(body: RecordBody): string | undefined {
  switch (body.type) {
    case 'batch':
      return body.event.messageId
    case 'wait.opened':
      return body.wait.id
    case 'binding.changed':
      return body.binding.agentId
    default:
      return 'messageId' in body ? body.messageId : undefined
  }
}
