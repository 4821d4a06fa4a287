/**
 * From raw bytes to activity events, relative to our own line splitter and `JSON.parse` on the same bytes in the same run.
 * Run: node --expose-gc packages/adapters/src/mapping.bench.ts [megabytes [id of a CLI]]
 */
import { setImmediate } from 'node:timers/promises'
import { LineSplitter, type Line } from '@inspan/shell/run'
import { report } from '@inspan/testing'
import { SyntheticStream } from '../test/synthetic-stream.ts'
import { dialects } from './dialects.ts'
import { activityOf } from './kit/activity.ts'
import type { Dialect } from './kit/mapper.ts'
import { createMapper } from './kit/mapping.ts'

const megabytes = Number(process.argv[2] ?? 200)
const only = process.argv[3]
/** Size of one part of the stream. A part is made, read by both contenders and dropped before the next is made. */
const PART_MEGABYTES = 4
/** Parts before memory is first measured: by then all code is compiled and every bounded buffer is full. */
const EARLY_PARTS = 5

async function measure(dialect: Dialect): Promise<void> {
  const stream = new SyntheticStream(dialect)
  let parsed = 0
  const floor = new Contender((line) => {
    if (typeof JSON.parse(line.text) === 'object') parsed += 1
  })
  let events = 0
  const mapper = createMapper(dialect, {
    cwd: '/workspace',
    emit: (event) => {
      events += activityOf(event).length
    },
  })
  let texts: string[] = []
  const ours: Contender = new Contender(
    (line) => texts.push(line.text),
    (at) => {
      const came = texts
      texts = []
      mapper.lines(came, at)
    },
  )

  const parts = Math.max(EARLY_PARTS + 1, Math.ceil(megabytes / PART_MEGABYTES))
  let early = 0
  for (let part = 1; part <= parts; part += 1) {
    readPart(stream, floor, ours)
    if (part === EARLY_PARTS) early = await heapMegabytes()
  }
  const late = await heapMegabytes()
  const { lines: mapped, faults } = mapper.ledger.sums()
  if (mapped !== parsed || faults > 0 || events < mapped / 20) {
    throw new Error(`${dialect.id}: ${parsed} lines parsed, ${mapped} mapped to ${events} events, ${faults} faults`)
  }
  console.error(
    `   ${dialect.id}: ${ours.speed} MB/s, ${floor.speed} MB/s for splitting and JSON.parse; ` +
      `heap ${rounded(early)} MB, ${rounded(late)} MB at the end`,
  )
  report({
    name: `mapping: ${dialect.id}, bytes to activity relative to splitting and JSON.parse`,
    ratio: rounded(ours.fastest / floor.fastest),
    limit: 1.6,
    unit: 'µs/MB',
    floor: rounded(floor.fastest),
    ours: rounded(ours.fastest),
  })
  report({
    name: `mapping: ${dialect.id}, memory after ${parts * PART_MEGABYTES} MB of stream relative to ${EARLY_PARTS * PART_MEGABYTES} MB`,
    ratio: rounded(late / early),
    limit: 1.05,
    unit: 'MB',
    floor: rounded(early),
    ours: rounded(late),
  })
}

function readPart(stream: SyntheticStream, ...contenders: readonly Contender[]): void {
  const chunks = [...stream.chunks(PART_MEGABYTES * 1e6)]
  for (const contender of contenders) contender.read(chunks)
}

/** Reads the stream part by part. The time to make the parts does not count. */
class Contender {
  /** Microseconds per megabyte in the fastest part. */
  fastest = Infinity
  readonly #splitter: LineSplitter
  readonly #afterPiece: ((at: number) => void) | undefined
  #bytes = 0
  #time = 0

  /** `afterPiece` gets the arrival time that all lines of one chunk share. */
  constructor(onLine: (line: Line) => void, afterPiece?: (at: number) => void) {
    this.#splitter = new LineSplitter(onLine)
    this.#afterPiece = afterPiece
  }

  read(chunks: readonly Buffer[]): void {
    const start = performance.now()
    for (const chunk of chunks) {
      this.#splitter.push(chunk)
      this.#afterPiece?.(Date.now())
    }
    const time = (performance.now() - start) * 1000
    const bytes = chunks.reduce((sum, chunk) => sum + chunk.length, 0)
    this.fastest = Math.min(this.fastest, (time * 1e6) / bytes)
    this.#bytes += bytes
    this.#time += time
  }

  /** Over the whole stream, in megabytes per second. */
  get speed(): number {
    return rounded(this.#bytes / this.#time)
  }
}

async function heapMegabytes(): Promise<number> {
  // What is swept in the background, or waits for the event loop, is freed by a later collection.
  for (let round = 0; round < 10; round += 1) {
    globalThis.gc?.()
    await setImmediate()
  }
  const { heapUsed, arrayBuffers } = process.memoryUsage()
  return (heapUsed + arrayBuffers) / 1e6
}

function rounded(value: number): number {
  return Number(value.toPrecision(3))
}

for (const dialect of dialects) {
  // Antigravity prints plain text: there is no JSON to compare with.
  if (dialect.id !== 'antigravity' && (only === undefined || only === dialect.id)) await measure(dialect)
}
