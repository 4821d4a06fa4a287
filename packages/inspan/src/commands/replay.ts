import { resolve } from 'node:path'
import type { LogRecord } from '@inspan/protocol/log'
import { UsageError, type InspanCommand, type Terminal } from '../command.ts'
import { openExistingStore } from '../data-file.ts'
import { describeActivity } from '../describe-activity.ts'
import { eventsOfRecord } from '../entry-events.ts'
import { playRecording, recordingAt } from '../recording.ts'
import { Renderer } from '../render.ts'
import { parseOptions } from '../parse-options.ts'
import { findThread, readThread } from '../read-thread.ts'
import { visible } from '@inspan/protocol/internal'

export const replayCommand: InspanCommand = {
  name: 'replay',
  help: [
    'Usage: inspan replay <thread or recording> [options]',
    '',
    'Shows a conversation from its log, or the recorded run of a coding agent (its folder or its raw.jsonl).',
    'Nothing is run and nothing is changed.',
    '',
    '  --speed <n>  for a recording: 1 in real time (default), 10 ten times as fast, max at once',
    '  --db <file>  the database file (default: ~/.inspan/inspan.db)',
    '  --json       print records, or the events of a recording, as lines of JSON',
    '',
    'Examples:',
    '  inspan replay 4k2x                                  the end of its id is enough',
    '  inspan replay ~/.inspan/recordings/… --speed max',
  ].join('\n'),
  run,
}

async function run(args: readonly string[], terminal: Terminal): Promise<number> {
  const { values, positionals } = parseOptions(args, {
    db: { type: 'string' },
    json: { type: 'boolean', default: false },
    speed: { type: 'string', default: '1' },
  })
  const [given] = positionals
  if (given === undefined || positionals.length > 1) throw new UsageError('name one thread: inspan threads lists them')
  const speed = speedOf(values.speed)
  const recording = recordingAt(resolve(terminal.cwd, given))
  if (recording !== undefined) {
    for await (const event of playRecording(recording, speed)) {
      terminal.out(values.json ? JSON.stringify(event) : visible(describeActivity(event)))
      await terminal.taken?.()
      if (terminal.hasNoReader?.() === true) break
    }
    return 0
  }
  const store = await openExistingStore(values.db, terminal)
  try {
    const thread = await findThread(store, given)
    const renderer = new Renderer(terminal)
    for await (const record of readThread(store, thread)) {
      if (values.json) terminal.out(JSON.stringify(record))
      else show(record, renderer, terminal)
      await terminal.taken?.()
      if (terminal.hasNoReader?.() === true) break
    }
    return 0
  } finally {
    await store.close()
  }
}

function speedOf(text: string): number {
  const speed = text === 'max' ? Infinity : Number(text)
  if (!(speed > 0)) throw new UsageError('--speed takes a number above 0, or max')
  return speed
}

function show(record: LogRecord, renderer: Renderer, terminal: Terminal): void {
  const { body } = record
  if (body.type === 'message.added' && body.role === 'user') {
    for (const part of body.parts) terminal.out(part.type === 'text' ? `> ${visible(part.text)}` : `> [${part.type}]`)
  }
  for (const event of eventsOfRecord(record)) renderer.show(event)
}
