import type { Part } from '@evener/protocol'
import { flag } from '../launch/args.ts'
import type { LaunchRequest } from '../launch/launch-plan.ts'
import { withoutFlags } from '../live/args.ts'
import type { LivePlan } from '../live/live-harness.ts'
import { launchPi, type PiLaunchOptions } from './launch.ts'

/** The prompt is said later. */
const NO_PROMPT: readonly Part[] = [{ id: '0', type: 'text', text: '-' }]
const MODE: ReadonlySet<string> = new Set(['--mode'])

/** `pi --mode rpc`, for many turns. Which session it goes on with it is told later. */
export function launchPiLive(request: LaunchRequest, options: PiLaunchOptions = {}): LivePlan {
  const {
    stdin: _stdin,
    args,
    ...plan
  } = launchPi({ ...request, session: { kind: 'new', id: '' }, input: NO_PROMPT }, options)
  const kept = withoutFlags(args, MODE).filter((arg) => arg !== '--print')
  return { ...plan, args: [...flag('--mode', 'rpc'), ...kept] }
}
