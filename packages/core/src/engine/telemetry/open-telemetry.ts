import type * as api from '@opentelemetry/api'
import type { TracerSource } from './tracing.ts'

type OpenTelemetry = typeof api

/** Where every copy of the API keeps what an SDK has registered, by its own convention. */
const REGISTRY = Symbol.for('opentelemetry.js.api.1')

let loading: Promise<OpenTelemetry | undefined> | undefined

/**
 * The API, when somebody has registered an SDK or brought a source of their own; `undefined` otherwise, and then it is not
 * even loaded. The package is the user's to install, with the SDK it belongs to.
 */
export async function openTelemetry(source?: TracerSource): Promise<OpenTelemetry | undefined> {
  const registered = (globalThis as { [REGISTRY]?: { readonly trace?: unknown } })[REGISTRY]
  if (source === undefined && registered?.trace === undefined) return undefined
  loading ??= import('@opentelemetry/api').catch(() => undefined)
  return loading
}
