/**
 * Compares our scan with node:readline on the same bytes, in the same process, alternating.
 * Run: node packages/shell/src/run/lines.bench.ts [megabytes]
 */
import { createReadStream } from 'node:fs'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { compare, report } from '@inspan/testing'
import { LineSplitter } from './line-splitter.ts'
import { LineStream } from './line-stream.ts'

const megabytes = Number(process.argv[2] ?? 100)
const dir = await mkdtemp(join(tmpdir(), 'inspan-lines-'))
const file = join(dir, 'lines.jsonl')
const highWaterMark = 64 * 1024

function content(): string {
  const line = (n: number): string =>
    JSON.stringify({ type: 'assistant', n, text: 'lorem ipsum · dolor '.repeat(20 + (n % 30)) })
  const block: string[] = []
  for (let n = 0; n < 1000; n += 1) block.push(line(n))
  const text = `${block.join('\n')}\n`
  return text.repeat(Math.ceil((megabytes * 1e6) / Buffer.byteLength(text)))
}

async function withCallback(): Promise<number> {
  let characters = 0
  const splitter = new LineSplitter((line) => {
    characters += line.text.length
  })
  for await (const chunk of createReadStream(file, { highWaterMark })) splitter.push(chunk as Buffer)
  splitter.end()
  return characters
}

async function withIterator(): Promise<number> {
  let characters = 0
  for await (const line of new LineStream(createReadStream(file, { highWaterMark }))) characters += line.text.length
  return characters
}

async function withReadline(): Promise<number> {
  let characters = 0
  for await (const line of createInterface({ input: createReadStream(file, { highWaterMark }) })) {
    characters += line.length
  }
  return characters
}

async function withReadlineEvents(): Promise<number> {
  let characters = 0
  const lines = createInterface({ input: createReadStream(file, { highWaterMark }) })
  lines.on('line', (line) => {
    characters += line.length
  })
  await new Promise((resolve) => lines.once('close', resolve))
  return characters
}

try {
  const text = content()
  const bytes = Buffer.byteLength(text)
  const characters = new Set<number>()
  await writeFile(file, text)
  const read = (contender: () => Promise<number>) => async (): Promise<number> => {
    characters.add(await contender())
    return bytes / 1e6
  }
  report(
    await compare({
      name: 'lines: our callback relative to events of readline',
      limit: 1,
      unit: 'µs/MB',
      floor: read(withReadlineEvents),
      ours: read(withCallback),
      rounds: 3,
    }),
  )
  report(
    await compare({
      name: 'lines: our iterator relative to that of readline',
      limit: 1,
      unit: 'µs/MB',
      floor: read(withReadline),
      ours: read(withIterator),
      rounds: 3,
    }),
  )
  if (characters.size !== 1) throw new Error('the contenders did not read the same lines')
} finally {
  await rm(dir, { recursive: true })
}
