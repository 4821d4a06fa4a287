import type * as api from '@opentelemetry/api'
import type { TracerSource } from './tracing.ts'

type OpenTelemetry = typeof api

/** Where every copy of the API keeps the registered SDK, by its own convention. */
const REGISTRY = Symbol.for('opentelemetry.js.api.1')

let loading: Promise<OpenTelemetry | undefined> | undefined

/**
 * Returns the API if an SDK is registered or a source is given; otherwise `undefined`, and the API is not even loaded.
 * The user installs the package, together with the SDK.
 */
export async function openTelemetry(source?: TracerSource): Promise<OpenTelemetry | undefined> {
  const registered = (globalThis as { [REGISTRY]?: { readonly trace?: unknown } })[REGISTRY]
  if (source === undefined && registered?.trace === undefined) return undefined
  loading ??= import('@opentelemetry/api').catch(() => undefined)
  return loading
}
