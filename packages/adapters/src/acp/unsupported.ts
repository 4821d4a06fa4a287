import type { LaunchRequest } from '../launch/launch-plan.ts'
import type { RunWarning } from '../launch/run-note.ts'

/** Returns warnings for what the turn asks for and the agent cannot be given. */
export function unsupportedWarnings(
  { instructions, maxSteps }: Pick<LaunchRequest, 'instructions' | 'maxSteps'>,
  title: string,
): readonly RunWarning[] {
  const unsupported = [
    ...(instructions === undefined ? [] : ['instructions']),
    ...(maxSteps === undefined ? [] : ['a number of steps']),
  ]
  return unsupported.map((what) => ({ message: `${title} cannot be given ${what}.`, code: 'ignored-option' }))
}
