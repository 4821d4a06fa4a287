import type { LaunchRequest } from '../launch/launch-plan.ts'
import type { RunWarning } from '../launch/run-note.ts'

/** Returns warnings for what the turn asks for and the agent cannot be given. */
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
