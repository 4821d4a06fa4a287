import { readFileSync } from 'node:fs'
import { resolve } from 'node:path'
import { dialects, liveDialects, Normalizer } from '@inspan/adapters/reading'
import { InspanError, type ActivityEvent } from '@inspan/protocol'
import { LineSplitter, LineStream } from '@inspan/shell/run'
import { UsageError, type InspanCommand, type Terminal } from '../command.ts'
import { parseOnlyOptions } from '../parse-options.ts'

/** The dialects of the known programs, and that of any other agent that speaks the Agent Client Protocol. */
const readable = [...dialects, ...liveDialects.filter(({ id }) => id === 'acp')]
const known = readable.map(({ id }) => id).join(', ')

export const normalizeCommand: InspanCommand = {
  name: 'normalize',
  help: [
    'Usage: inspan normalize [--harness <id>] [options] < output',
    '',
    "Reads a program's own output, or a recorded raw.jsonl, from standard input and prints one activity event",
    'per line as JSON. A recording gives exactly the events that were recorded with it.',
    '',
    `  --harness <id>   whose output it is: ${known}`,
    '                   (a recording says so itself)',
    '  --cwd <folder>   the folder that relative paths refer to',
    '  --stderr <file>  what the program wrote to standard error',
    '  --exit-code <n>  the exit code of the program',
    '',
    'Example: codex exec --json "…" | inspan normalize --harness codex',
  ].join('\n'),
  run,
}

async function run(args: readonly string[], terminal: Terminal): Promise<number> {
  const values = parseOnlyOptions(args, {
    harness: { type: 'string' },
    cwd: { type: 'string' },
    stderr: { type: 'string' },
    'exit-code': { type: 'string' },
  })
  const { harness: id } = values
  if (id !== undefined && !readable.some((dialect) => dialect.id === id)) {
    throw new UsageError(`there is no coding agent "${id}"; known: ${known}`)
  }
  const exitCode = exitCodeOf(values['exit-code'])
  const normalizer = new Normalizer({
    dialects: readable,
    liveDialects,
    ...(id === undefined ? {} : { harness: id }),
    ...(values.cwd === undefined ? {} : { cwd: resolve(terminal.cwd, values.cwd) }),
    ...(values.stderr === undefined ? {} : { stderr: linesOf(resolve(terminal.cwd, values.stderr)) }),
    ...(exitCode === undefined ? {} : { exitCode }),
  })
  const print = (events: readonly ActivityEvent[]): void => {
    if (events.length > 0) terminal.out(events.map((event) => JSON.stringify(event)).join('\n'))
  }
  // Lines that arrive together are printed together, because a write per event takes longer than making the event.
  for await (const lines of new LineStream(terminal.input).batches()) {
    print(lines.flatMap((line) => normalizer.line(line.text)))
    await terminal.taken?.()
    if (terminal.hasNoReader?.() === true) {
      // Closes the input, so that its writer notices too.
      terminal.input.destroy()
      return 0
    }
  }
  print(normalizer.end())
  return 0
}

function exitCodeOf(text: string | undefined): number | undefined {
  if (text === undefined) return undefined
  const code = Number(text)
  if (text.trim() === '' || !Number.isInteger(code)) throw new UsageError('--exit-code takes a whole number')
  return code
}

/** Splits the file into lines as if they were read from the program itself. */
function linesOf(file: string): readonly string[] {
  const lines: string[] = []
  const splitter = new LineSplitter((line) => void lines.push(line.text))
  splitter.push(read(file))
  splitter.end()
  return lines
}

function read(file: string): Buffer {
  try {
    return readFileSync(file)
  } catch (error) {
    throw new InspanError('not-found', `The file ${file} cannot be read.`, {
      hint: '--stderr takes the file with what the program wrote to standard error.',
      cause: error,
    })
  }
}
