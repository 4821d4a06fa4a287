import { InspanError } from '@inspan/protocol'
import { openTelemetry } from './open-telemetry.ts'
import type { TracerSource } from './tracing.ts'

/** Throws if spans are wanted and the API is not installed. */
export async function requireOpenTelemetry(source: TracerSource): Promise<void> {
  if ((await openTelemetry(source)) !== undefined) return
  throw new InspanError('unsupported', 'Spans cannot be made: the package @opentelemetry/api is not installed.', {
    hint: 'Install it next to the SDK of the tracer provider.',
  })
}
