import type { Answer, Part, RunState, Store, Wait } from '@evener/protocol'
import { answeredRows } from './answered-waits.ts'

interface AnsweredWait {
  readonly wait: Wait
  readonly answer: Answer
}

/** What was asked in the run and answered after the asker was gone. */
export async function answeredWaits(store: Store, stream: string, run: RunState): Promise<AnsweredWait[]> {
  const rows = await answeredRows(store, stream, run.runId)
  // From the newest back: of what was asked and answered several times in the run, the last answers are still kept.
  const kept = new Map([...(run.kept?.entries() ?? [])].map(([hash, answers]) => [hash, [...answers]]))
  const answered: AnsweredWait[] = []
  for (const { wait } of rows.sort((a, b) => (b.settledAt ?? 0) - (a.settledAt ?? 0))) {
    const answer = kept.get(wait.subject.hash ?? '')?.pop()
    if (answer !== undefined) answered.unshift({ wait, answer })
  }
  return answered
}

/** What an agent is told that asked, was gone when it was answered, and now goes on. */
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
 * What an agent is told that is given the floor and nothing else. Whoever spoke before it had the last word, and models take
 * what is no user's for the beginning of their own answer, or refuse it.
 */
export const GO_ON: readonly Part[] = [{ id: '0', type: 'text', text: 'Go on with the task from here.' }]

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
