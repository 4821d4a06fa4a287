import { InspanError } from '@inspan/protocol'
import { toHarnessMessage, type HarnessEvent, type HarnessMessage } from '@inspan/protocol/harness'
import { MAX_PAGE } from '@inspan/protocol/store'
import type { LogEntry, ThreadRuntime } from '../../engine/index.ts'
import type { RunAddress } from './observability.ts'
import type { ThreadPort } from '../signals/thread-port.ts'

/** A completed run, for a scorer to judge. */
export interface ScoredRun extends RunAddress {
  /** The messages of the run, oldest first; of a very long run the newest. */
  readonly messages: readonly HarnessMessage[]
}

export interface ScorerVerdict {
  readonly value: number
  readonly reason?: string
}

type Judge = (run: ScoredRun) => number | ScorerVerdict | Promise<number | ScorerVerdict>

/** Scores a run after it has ended. */
export type Scorer = Judge | { readonly score: Judge }

/** The scorers of a harness, by their ids. */
export type Scorers = ReadonlyMap<string, Scorer>

export interface RunScoringPorts {
  readonly scorers: Scorers
  readonly runtime: Pick<ThreadRuntime, 'addScore'>
  readonly port: Pick<ThreadPort, 'newestMessages'>
  readonly threadId: string
  /** Whether this door carries out the run. */
  readonly isOwnRun: (runId: string) => boolean
  readonly emit: (event: HarnessEvent) => void
}

/**
 * Returns a listener that has each completed run of a thread scored by every scorer. The scores are recorded with the
 * run.
 */
export function runScoring(ports: RunScoringPorts): (entry: LogEntry) => Promise<void> | undefined {
  let startedSeq = 0
  return (entry) => {
    if (entry.kind !== 'record') return undefined
    const { body, seq } = entry.record
    if (body.type === 'run.started') startedSeq = seq
    if (body.type !== 'run.ended' || body.outcome !== 'complete') return undefined
    if (entry.others === true || ports.scorers.size === 0 || !ports.isOwnRun(body.runId)) return undefined
    return judge(ports, body.runId, startedSeq)
  }
}

async function judge(ports: RunScoringPorts, runId: string, startedSeq: number): Promise<void> {
  const { port, scorers, threadId } = ports
  const newest = await port.newestMessages(MAX_PAGE)
  const messages = newest.filter(({ order }) => order > startedSeq).map(toHarnessMessage)
  for (const [id, scorer] of scorers) await score(ports, id, scorer, { threadId, runId, messages })
}

async function score({ emit, runtime }: RunScoringPorts, id: string, scorer: Scorer, run: ScoredRun): Promise<void> {
  try {
    const found = await (typeof scorer === 'function' ? scorer(run) : scorer.score(run))
    const verdict = typeof found === 'number' ? { value: found } : found
    await runtime.addScore(run.runId, { name: id, source: id, ...verdict })
  } catch (thrown) {
    // The thread was closed meanwhile: there is nobody to report to.
    if (InspanError.is(thrown, 'closed')) return
    const error = thrown instanceof Error ? thrown : new Error(String(thrown))
    emit({ type: 'error', error, errorType: `scorer:${id}` })
  }
}
