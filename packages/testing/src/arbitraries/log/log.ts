import type { LogRecord } from '@inspan/protocol/log'
import * as fc from 'fast-check'
import { agentMoves, type Move } from './agent-moves.ts'
import { endRun } from './run.ts'
import { threadMoves } from './thread-moves.ts'
import { LogWriter, pickFrom } from './writer.ts'

export interface LogOptions {
  readonly stream?: string
  /** The maximum number of moves. A move writes from zero to a dozen records. Default: 100. */
  readonly maxMoves?: number
  /** Ends the last run. Otherwise the log may stop anywhere, as after a crash. */
  readonly closed?: boolean
}

/** A stream and a fork of it. Folding the fork's records alone gives the fork's head. */
export interface ForkedLog {
  readonly parent: readonly LogRecord[]
  readonly fork: readonly LogRecord[]
  /** The parent's seq from which the fork continues. */
  readonly at: number
}

const move: fc.Arbitrary<Move> = fc.oneof(...agentMoves, ...threadMoves)

function moves(options: LogOptions): fc.Arbitrary<readonly Move[]> {
  return fc.array(move, { maxLength: options.maxMoves ?? 100, size: 'max' })
}

/**
 * The records of one stream as the engine would have written them live: seqs without a gap, matching ids, interleaved
 * parts, each sealed part naming its oldest batch.
 */
export function arbitraryLog(options: LogOptions = {}): fc.Arbitrary<readonly LogRecord[]> {
  return moves(options).map((played) => play(new LogWriter(options.stream ?? 'main'), played, options).records)
}

export function arbitraryForkedLog(options: LogOptions = {}): fc.Arbitrary<ForkedLog> {
  return fc.record({ before: moves(options), after: moves(options), pick: fc.nat({ max: 99 }) }).map((drawn) => {
    const parent = new LogWriter(options.stream ?? 'main')
    // An empty log has no point to fork from.
    parent.append({ type: 'message.added', messageId: parent.newId('m'), role: 'user', parts: [] })
    parent.markBoundary()
    play(parent, drawn.before, options)
    const at = pickFrom(parent.boundaries, drawn.pick)
    if (at === undefined) throw new Error('The first message is a boundary.')
    const fork = play(LogWriter.fork(parent, at, `${parent.stream}-fork`), drawn.after, options)
    return { parent: parent.records, fork: fork.records, at: at.seq }
  })
}

function play(log: LogWriter, played: readonly Move[], options: LogOptions): LogWriter {
  for (const next of played) next(log)
  if (options.closed === true) endRun(log, 'complete')
  return log
}

/** Returns the log as a store keeps it: without the batches that sealed parts replaced. */
export function withoutSealedBatches(records: readonly LogRecord[]): readonly LogRecord[] {
  const sealed = new Set<string>()
  for (const { first, body } of records) {
    if (first !== undefined && 'partId' in body) sealed.add(`${body.messageId}/${body.partId}`)
  }
  return records.filter(
    ({ body }) => body.type !== 'batch' || !sealed.has(`${body.event.messageId}/${body.event.partId}`),
  )
}
