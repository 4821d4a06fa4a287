import type { Part } from '@inspan/protocol'
import { flag } from '../launch/args.ts'
import type { LaunchRequest } from '../launch/launch-plan.ts'
import { withoutFlags } from '../live/args.ts'
import type { LivePlan } from '../live/live-cli-spec.ts'
import { launchPi, type PiLaunchOptions } from './launch.ts'

/** A placeholder: the prompt is sent later. */
const NO_PROMPT: readonly Part[] = [{ id: '0', type: 'text', text: '-' }]
const MODE: ReadonlySet<string> = new Set(['--mode'])

/** Returns how to start `pi --mode rpc`. The session to resume is sent later. */
export function launchPiLive(request: LaunchRequest, options: PiLaunchOptions = {}): LivePlan {
  const {
    stdin: _stdin,
    args,
    ...plan
  } = launchPi({ ...request, session: { kind: 'new', id: '' }, input: NO_PROMPT }, options)
  const kept = withoutFlags(args, MODE).filter((arg) => arg !== '--print')
  return { ...plan, args: [...flag('--mode', 'rpc'), ...kept] }
}
