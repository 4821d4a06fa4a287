import { EvenerError, type HarnessEvent } from '@evener/protocol'

/**
 * Whoever awaits it gets the rejection. Whoever does not must not be ended by it, as Node ends a process whose rejection
 * nobody looks at: it is told by an event.
 */
export function told<Result>(done: Promise<Result>, emit: (event: HarnessEvent) => void): Promise<Result> {
  done.catch((error: unknown) =>
    emit({
      type: 'error',
      error: error instanceof Error ? error : new Error(String(error)),
      ...(EvenerError.is(error) ? { errorType: error.code } : {}),
    }),
  )
  return done
}
