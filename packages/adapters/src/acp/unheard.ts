import type { LaunchRequest } from '../launch/launch-plan.ts'
import type { RunWarning } from '../launch/run-note.ts'

/** What a turn wants and the agent cannot be told. */
export function unheardWarnings(
  { instructions, maxSteps }: Pick<LaunchRequest, 'instructions' | 'maxSteps'>,
  title: string,
): readonly RunWarning[] {
  const unheard = [
    ...(instructions === undefined ? [] : ['instructions']),
    ...(maxSteps === undefined ? [] : ['a number of steps']),
  ]
  return unheard.map((what) => ({ message: `${title} cannot be given ${what}.`, code: 'unheard' }))
}
