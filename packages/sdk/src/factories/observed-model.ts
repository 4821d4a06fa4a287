import type { LanguageModel } from '@inspan/core'
import type { WireBus } from '../engine/engine-harness.ts'

interface Observation {
  readonly wire: WireBus
  readonly agentId: string
  readonly sessionId: string
}

type ObservedOptions = Readonly<Record<string, unknown>>
interface Answered {
  readonly content?: readonly unknown[]
  /** Only of `doStream`. */
  readonly stream?: ReadableStream<unknown>
  readonly request?: { readonly body?: unknown }
  readonly response?: { readonly headers?: Readonly<Record<string, string>> }
}

/** Shows what a model is asked and answers, while somebody listens. Otherwise the model itself is returned. */
export function observedModel(model: LanguageModel, observation: Observation): LanguageModel {
  const { wire } = observation
  if (!wire.isHeard) return model
  return new Proxy(model, {
    get(target, key) {
      const value: unknown = Reflect.get(target, key, target)
      if (typeof value !== 'function') return value
      const call = value.bind(target) as (options: ObservedOptions) => Promise<Answered>
      if (key !== 'doStream' && key !== 'doGenerate') return call
      return (options: ObservedOptions) => observed(target, call, options, observation)
    },
  })
}

async function observed(
  { modelId, provider }: LanguageModel,
  call: (options: ObservedOptions) => Promise<Answered>,
  options: ObservedOptions,
  { agentId, sessionId, wire }: Observation,
): Promise<Answered> {
  const requestId = crypto.randomUUID()
  const startedAt = Date.now()
  const scope = { agentId, sessionId, requestId }
  const { abortSignal: _signal, headers = {}, ...body } = options
  wire.emit({
    ...scope,
    type: 'llm-request',
    timestamp: startedAt,
    url: `${provider}/${modelId}`,
    method: 'POST',
    headers: masked(headers as Record<string, string | undefined>),
    body,
  })
  const answer = (more: { readonly [key: string]: unknown }): void => {
    const timestamp = Date.now()
    wire.emit({ ...scope, type: 'llm-response', timestamp, durationMs: timestamp - startedAt, ...more })
  }
  try {
    const result = await call(options)
    const { content: body, response, stream } = result
    const headers = response?.headers === undefined ? {} : { headers: masked(response.headers) }
    if (stream !== undefined) return { ...result, stream: collected(stream, (more) => answer({ ...headers, ...more })) }
    answer({ ...headers, status: 200, body })
    return result
  } catch (error) {
    answer({ error: error instanceof Error ? error : new Error(String(error)), ...statusOf(error) })
    throw error
  }
}

/** Passes the stream on and reports its parts once, when it ends in whatever way. */
function collected(
  stream: ReadableStream<unknown>,
  answer: (more: { readonly [key: string]: unknown }) => void,
): ReadableStream<unknown> {
  const parts: unknown[] = []
  const reader = stream.getReader()
  let isAnswered = false
  const done = (more: { readonly [key: string]: unknown } = {}): void => {
    if (isAnswered) return
    isAnswered = true
    answer({ body: parts, ...more })
  }
  return new ReadableStream<unknown>({
    async pull(controller) {
      try {
        const { done: isOver, value } = await reader.read()
        if (isOver) {
          done({ status: 200 })
          controller.close()
          return
        }
        parts.push(value)
        controller.enqueue(value)
      } catch (error) {
        done({ error })
        controller.error(error)
      }
    },
    async cancel(reason) {
      done({ error: new Error('The answer was no longer wanted.') })
      await reader.cancel(reason)
    },
  })
}

const SECRET = /authorization|api-?key|token|secret|cookie|password/i

function masked(headers: Readonly<Record<string, string | undefined>>): Record<string, string> {
  const shown: Record<string, string> = {}
  for (const [name, value] of Object.entries(headers)) {
    if (value !== undefined) shown[name] = SECRET.test(name) ? '***' : value
  }
  return shown
}

function statusOf(error: unknown): { readonly status?: number } {
  const status = error instanceof Error && 'statusCode' in error ? error.statusCode : undefined
  return typeof status === 'number' ? { status } : {}
}
