import { parseArgs } from 'node:util'
import { agentEventsOf, EvenerError, type LogRecord } from '@evener/protocol'
import { UsageError, type Command, type Terminal } from '../command.ts'
import { dataFile, openStore } from '../data-file.ts'
import { Renderer } from '../render.ts'
import { readThread } from '../read-thread.ts'

export const replayCommand: Command = {
  name: 'replay',
  summary: 'show a recorded conversation again',
  help: [
    'Usage: evener replay <thread> [options]',
    '',
    'Shows a conversation from its log. Nothing is run and nothing is changed.',
    '',
    '  --db <file>  where conversations are kept (default: ~/.evener/evener.db)',
    '  --json       print the records of the log as lines of JSON',
  ].join('\n'),
  run,
}

async function run(args: readonly string[], terminal: Terminal): Promise<number> {
  const { values, positionals } = parseArgs({
    args: [...args],
    allowPositionals: true,
    options: { db: { type: 'string' }, json: { type: 'boolean', default: false } },
  })
  const [thread] = positionals
  if (thread === undefined || positionals.length > 1) throw new UsageError('name one thread: evener threads lists them')
  const store = openStore(dataFile(values.db, terminal))
  try {
    if ((await store.getThread(thread)) === null) {
      throw new EvenerError('not-found', `There is no thread "${thread}".`, {
        hint: '"evener threads" lists what there is.',
      })
    }
    const renderer = new Renderer(terminal)
    for await (const record of readThread(store, thread)) {
      if (values.json) terminal.out(JSON.stringify(record))
      else show(record, renderer, terminal)
    }
    return 0
  } finally {
    await store.close()
  }
}

function show(record: LogRecord, renderer: Renderer, terminal: Terminal): void {
  const { body } = record
  if (body.type === 'message.added' && body.role === 'user') {
    for (const part of body.parts) terminal.out(part.type === 'text' ? `> ${part.text}` : `> [${part.type}]`)
  }
  for (const event of agentEventsOf(record)) renderer.show(event)
}
