import { createReadStream, existsSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { dialects, liveDialects, Normalizer } from '@evener/adapters'
import type { ActivityEvent } from '@evener/protocol'
import { LineStream, spoolFileName } from '@evener/shell/run'

/** The raw recording that a path means: the file itself, or the folder of a run. */
export function recordingAt(path: string): string | undefined {
  if (!existsSync(path)) return undefined
  const file = statSync(path).isDirectory() ? join(path, spoolFileName) : path
  return existsSync(file) ? file : undefined
}

/** The events of a recording in their order, as far apart as they were; `speed` 10 is ten times as fast. */
export async function* playRecording(file: string, speed: number): AsyncGenerator<ActivityEvent> {
  const normalizer = new Normalizer({ dialects, liveDialects })
  let last: number | undefined
  const pace = async function* (events: readonly ActivityEvent[]): AsyncGenerator<ActivityEvent> {
    for (const event of events) {
      const at = Date.parse(event.timestamp)
      if (last !== undefined && at > last && speed !== Infinity) await delay((at - last) / speed)
      last = at
      yield event
    }
  }
  for await (const line of new LineStream(createReadStream(file))) yield* pace(normalizer.line(line.text))
  yield* pace(normalizer.end())
}
