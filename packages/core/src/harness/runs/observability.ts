import type { Span, SpanOptions, Tracer } from '@opentelemetry/api'
import { InspanError } from '@inspan/protocol'
import type { HarnessEvent } from '@inspan/protocol/harness'
import type { NoteRecord } from '@inspan/protocol/log'
import {
  requireOpenTelemetry,
  type Feedback,
  type LogEntry,
  type Score,
  type TracerSource,
} from '../../engine/index.ts'

export interface RunAddress {
  readonly threadId: string
  readonly runId: string
}

export interface RunScore extends RunAddress, Score {}

export interface RunFeedback extends RunAddress, Feedback {}

/** Receives what becomes known about runs. An OpenTelemetry tracer provider is one that takes spans. */
export interface Observability extends Partial<TracerSource> {
  /** Called with each score when it is on record. */
  onScore?(score: RunScore): void | Promise<void>
  /** Called with each feedback when it is on record. */
  onFeedback?(feedback: RunFeedback): void | Promise<void>
}

const USES = ['getTracer', 'onScore', 'onFeedback'] as const

/** Refuses an object that has none of the methods: something else was meant. */
export function checkObservability(given: Observability): void {
  if (USES.some((name) => typeof given[name] === 'function')) return
  throw new InspanError('invalid-input', '`observability` takes neither spans nor scores nor feedback.', {
    hint: `Give an OpenTelemetry tracer provider, or an object with one of: ${USES.join(', ')}.`,
  })
}

/** Throws at the start when the OpenTelemetry API is missing: no span would ever be made. */
export async function prepareTracing(observability: Observability | undefined): Promise<void> {
  const source = tracerSource(observability)
  if (source !== undefined) await requireOpenTelemetry(source)
}

/** `onRun` is called with the trace of each run. */
export function tracerSource(
  given: Observability | undefined,
  onRun?: (runId: string, traceId: string) => void,
): TracerSource | undefined {
  if (typeof given?.getTracer !== 'function') return undefined
  return {
    getTracer: (name, version) => {
      const tracer = given.getTracer?.(name, version) ?? {}
      return onRun === undefined ? tracer : watched(tracer as Tracer, onRun)
    },
  }
}

/** Wraps the tracer to look at the spans it begins. */
function watched(tracer: Tracer, onRun: (runId: string, traceId: string) => void): Tracer {
  return new Proxy(tracer, {
    get: (target, key) => {
      const value: unknown = Reflect.get(target, key, target)
      if (typeof value !== 'function') return value
      return (...args: unknown[]): unknown => {
        const made: unknown = Reflect.apply(value, target, args)
        const options = args[1] as SpanOptions | undefined
        const runId = key === 'startSpan' ? options?.attributes?.['inspan.run.id'] : undefined
        if (typeof runId === 'string') onRun(runId, (made as Span).spanContext().traceId)
        return made
      }
    },
  })
}

/** Returns a listener that passes on scores and feedback as they are recorded, whoever gave them. */
export function opinionEmitter(
  observability: Observability,
  threadId: string,
  emit: (event: HarnessEvent) => void,
): (entry: LogEntry) => Promise<void> | undefined {
  return (entry) => {
    if (entry.kind !== 'record' || entry.others === true) return undefined
    const { body, run: runId } = entry.record
    if (body.type !== 'note' || runId === undefined) return undefined
    return tell(observability, { threadId, runId }, body).catch((thrown: unknown) => {
      const error = thrown instanceof Error ? thrown : new Error(String(thrown))
      emit({ type: 'error', error, errorType: 'observability' })
    })
  }
}

async function tell(observability: Observability, run: RunAddress, { data, kind }: NoteRecord): Promise<void> {
  if (kind === 'score') await observability.onScore?.({ ...run, ...(data as unknown as Score) })
  if (kind === 'feedback') await observability.onFeedback?.({ ...run, ...(data as unknown as Feedback) })
}
