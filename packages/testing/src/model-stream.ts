import type { LanguageModelV4StreamPart } from '@ai-sdk/provider'
import type { JsonObject } from '@inspan/protocol'
import { abortErrorOf, forever, pause } from './abort.ts'
import { connectionLost, streamErrorOf } from './model-errors.ts'
import type { Ending } from './timeline.ts'

type Controller = ReadableStreamDefaultController<LanguageModelV4StreamPart>

export interface ModelPlay {
  readonly signal: AbortSignal | undefined
  readonly delayPerDeltaMs: number
  readonly ending: Ending
  readonly request: JsonObject
}

/** Streams prebuilt parts one by one on demand, and ends as the script says. */
export function playParts(
  parts: readonly LanguageModelV4StreamPart[],
  { signal, delayPerDeltaMs, ending, request }: ModelPlay,
): ReadableStream<LanguageModelV4StreamPart> {
  const cancelled = new AbortController()
  // Created only when something waits, because it costs as much as a delta or two.
  const stop = (): AbortSignal =>
    signal === undefined ? cancelled.signal : AbortSignal.any([signal, cancelled.signal])
  let next = 0

  function end(controller: Controller): Promise<void> | void {
    if (ending.kind === 'hang') return forever(stop())
    if (ending.kind === 'cut' && ending.how === 'reset') return controller.error(connectionLost(request))
    if (ending.kind === 'error') controller.enqueue({ type: 'error', error: streamErrorOf(ending.error) })
    controller.close()
  }

  return new ReadableStream<LanguageModelV4StreamPart>(
    {
      pull(controller) {
        if (signal?.aborted === true) return controller.error(abortErrorOf(signal))
        const part = parts[next]
        if (part === undefined) return end(controller)
        next += 1
        if (delayPerDeltaMs > 0 && part.type.endsWith('-delta')) {
          return pause(delayPerDeltaMs, stop()).then(() => controller.enqueue(part))
        }
        controller.enqueue(part)
      },
      cancel: () => cancelled.abort(),
    },
    { highWaterMark: 0 },
  )
}
