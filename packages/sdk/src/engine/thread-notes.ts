import type { ActivityNote, JsonObject } from '@inspan/protocol'
import type { TelemetryPayloads } from '@inspan/protocol/chat'
import type { LogLevel } from '@inspan/protocol/driver'
import type { RecordBody } from '@inspan/protocol/log'

type NoteBody = Extract<RecordBody, { type: 'note' }>

export interface NotePorts {
  readonly log: (level: LogLevel, message: string, context: Record<string, unknown>) => void
  readonly report: <Type extends 'usage-limit' | 'llm-retry'>(type: Type, payload: TelemetryPayloads[Type]) => void
}

/** Passes on what people should know: warnings, limits and when they end, and output that was not understood. */
export function passOnNote({ data = {}, kind, text }: NoteBody, { log, report }: NotePorts): void {
  if (kind === 'limit') {
    const { name, resetsAt, status } = data as unknown as TelemetryPayloads['usage-limit']
    report('usage-limit', { name, status, ...(resetsAt === undefined ? {} : { resetsAt }) })
    log(status === 'ok' ? 'debug' : 'warn', text, { ...data })
  } else if (kind === 'warning') {
    const { attempt, delayMs, status, type } = data
    if (type === 'llm-retry' && typeof attempt === 'number' && typeof delayMs === 'number')
      report('llm-retry', { attempt, delayMs, ...(typeof status === 'number' ? { status } : {}) })
    log('warn', text, { ...data })
  } else if (kind === 'info') {
    for (const rawChunk of notUnderstood(data))
      log('debug', 'Output of the agent was not understood.', { chunkType: typeOf(rawChunk), rawChunk })
  }
}

function notUnderstood({ activity }: JsonObject): unknown[] {
  const { events = [] } = (activity ?? {}) as unknown as Partial<ActivityNote>
  return events.flatMap((event) => (event.type === 'unknown' ? [event.raw] : []))
}

function typeOf(raw: unknown): string {
  const type = typeof raw === 'object' && raw !== null && 'type' in raw ? raw.type : undefined
  return typeof type === 'string' ? type : typeof raw
}
