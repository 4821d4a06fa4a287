import type { LanguageModelV4StreamPart } from '@ai-sdk/provider'
import { abortErrorOf, forever, pause } from './abort.ts'
import { connectionLost } from './scripted-error.ts'
import type { ScriptedStreamError } from './script.ts'
import type { Ending } from './timeline.ts'

export interface ModelPlay {
  readonly signal: AbortSignal | undefined
  readonly delayPerDeltaMs: number
  readonly ending: Ending
  streamError(error: ScriptedStreamError): Error
}

/** Hands out prebuilt parts one by one, as they are asked for, and ends as the script says. */
export function playParts(
  parts: readonly LanguageModelV4StreamPart[],
  play: ModelPlay,
): ReadableStream<LanguageModelV4StreamPart> {
  const { signal, delayPerDeltaMs, ending } = play
  const cancelled = new AbortController()
  const waitSignal = (): AbortSignal => (signal ? AbortSignal.any([signal, cancelled.signal]) : cancelled.signal)
  let next = 0

  async function pullSlowly(controller: ReadableStreamDefaultController<LanguageModelV4StreamPart>): Promise<void> {
    await pause(delayPerDeltaMs, waitSignal())
    pullNow(controller)
  }

  function pullNow(controller: ReadableStreamDefaultController<LanguageModelV4StreamPart>): void {
    const part = parts[next]
    if (part === undefined) return
    next += 1
    controller.enqueue(part)
  }

  function end(controller: ReadableStreamDefaultController<LanguageModelV4StreamPart>): Promise<void> | void {
    if (ending.kind === 'hang') return forever(waitSignal())
    if (ending.kind === 'cut' && ending.how === 'reset') return controller.error(connectionLost())
    if (ending.kind === 'error') controller.enqueue({ type: 'error', error: play.streamError(ending.error) })
    controller.close()
  }

  return new ReadableStream<LanguageModelV4StreamPart>(
    {
      pull(controller) {
        if (signal?.aborted === true) return controller.error(abortErrorOf(signal))
        const part = parts[next]
        if (part === undefined) return end(controller)
        if (delayPerDeltaMs > 0 && part.type.endsWith('-delta')) return pullSlowly(controller)
        pullNow(controller)
      },
      cancel() {
        cancelled.abort()
      },
    },
    { highWaterMark: 0 },
  )
}
