import type { Answer, Part, Wait } from '@inspan/protocol'
import type { RunState } from '@inspan/protocol/log'
import type { Store } from '@inspan/protocol/store'
import { answeredRows } from './answered-waits.ts'

interface AnsweredWait {
  readonly wait: Wait
  readonly answer: Answer
}

/** Returns the waits of the run that were answered after the asker was gone, with their answers. */
export async function answeredWaits(store: Store, stream: string, run: RunState): Promise<AnsweredWait[]> {
  const rows = await answeredRows(store, stream, run.runId)
  // From the newest back: if the same was asked and answered several times, the last answers are the ones still kept.
  const kept = new Map([...(run.kept?.entries() ?? [])].map(([hash, answers]) => [hash, [...answers]]))
  const answered: AnsweredWait[] = []
  for (const { wait } of rows.sort((a, b) => (b.settledAt ?? 0) - (a.settledAt ?? 0))) {
    const answer = kept.get(wait.subject.hash ?? '')?.pop()
    if (answer !== undefined) answered.unshift({ wait, answer })
  }
  return answered
}

/** Returns the input for an agent that was gone when its questions were answered and now goes on. */
export function continuationInput(answered: readonly AnsweredWait[]): Part[] {
  const lines = answered.map(({ wait, answer }) => `- ${describe(wait)}: ${verdict(wait, answer)}`)
  return [
    {
      id: '0',
      type: 'text',
      text: [
        'You were interrupted while you waited for answers. They have been given:',
        ...lines,
        'Go on with your task from there. Make an approved call again, with exactly the same arguments; what its earlier',
        'attempt did is unknown. Do not make a denied call again.',
      ].join('\n'),
    },
  ]
}

/**
 * The default input of an agent that gets the floor. The speaker before it had the last word, and models take what is
 * not a user's message for the beginning of their own answer, or refuse it.
 */
export const GO_ON: readonly Part[] = [{ id: '0', type: 'text', text: 'Go on with the task from here.' }]

/** The input of a program whose turn was cut off by a usage limit that is over now. */
export const LIMIT_OVER: readonly Part[] = [
  { id: '0', type: 'text', text: 'A usage limit interrupted you. It is over: go on with your task from there.' },
]

function describe({ description, subject }: Wait): string {
  if (subject.toolName === undefined) return description
  return `the call ${subject.toolName}(${JSON.stringify(subject.args ?? {})})`
}

function verdict(wait: Wait, { decision, reason, value }: Answer): string {
  const because = reason === undefined ? '' : ` because ${reason}`
  if (decision === 'decline') return `denied${because}`
  const answered = value === undefined ? '' : `, with the answer ${JSON.stringify(value)}`
  return `${wait.kind === 'approval' ? 'approved' : 'answered'}${because}${answered}; its earlier outcome is unknown`
}
