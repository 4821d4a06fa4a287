import { createReadStream, existsSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { dialects, liveDialects, Normalizer } from '@inspan/adapters/reading'
import { InspanError, type ActivityEvent } from '@inspan/protocol'
import { LineStream, spoolFileName } from '@inspan/shell/run'

/** Returns the raw recording at a path: the file itself, or the one in the folder of a run. */
export function recordingAt(path: string): string | undefined {
  if (!existsSync(path)) return undefined
  if (!statSync(path).isDirectory()) return path
  const file = join(path, spoolFileName)
  if (existsSync(file)) return file
  throw new InspanError('not-found', `There is no ${spoolFileName} in ${path}.`, {
    hint: 'Name the folder of a recorded run, or a thread: "inspan threads" lists those.',
  })
}

/** Longer delays overflow the timer, which would then fire at once. */
const LONGEST_DELAY_MS = 2 ** 31 - 1

/** Computes delays between events. Their times come from two clocks, so they need not be in order. */
export class Pace {
  readonly #speed: number
  #latest: number | undefined

  constructor(speed: number) {
    this.#speed = speed
  }

  /** Returns how many milliseconds to wait before showing an event of this time. */
  before(at: number): number {
    const latest = this.#latest ?? at
    this.#latest = Math.max(latest, at)
    return Math.min((this.#latest - latest) / this.#speed, LONGEST_DELAY_MS)
  }
}

/** Yields the events of a recording in their order and at their original pace; `speed` 10 is ten times as fast. */
export async function* playRecording(file: string, speed: number): AsyncGenerator<ActivityEvent> {
  const normalizer = new Normalizer({ dialects, liveDialects })
  const pace = new Pace(speed)
  const paced = async function* (events: readonly ActivityEvent[]): AsyncGenerator<ActivityEvent> {
    for (const event of events) {
      const waitMs = pace.before(Date.parse(event.timestamp))
      if (waitMs > 0) await delay(waitMs)
      yield event
    }
  }
  for await (const line of new LineStream(createReadStream(file))) {
    yield* paced(asRecording(file, () => normalizer.line(line.text)))
  }
  yield* paced(asRecording(file, () => normalizer.end()))
}

/** A recording names its program. A file that names none is something else. */
function asRecording(file: string, read: () => readonly ActivityEvent[]): readonly ActivityEvent[] {
  try {
    return read()
  } catch (error) {
    if (!InspanError.is(error, 'invalid-input')) throw error
    throw new InspanError('invalid-input', `${file} is not a recording of a run.`, {
      hint: `Name the folder of a run or its ${spoolFileName}; "inspan normalize" reads a program's own output.`,
      cause: error,
    })
  }
}
