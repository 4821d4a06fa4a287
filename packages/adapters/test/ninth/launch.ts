import { flag } from '../../src/launch/args.ts'
import type { LaunchPlan, LaunchRequest } from '../../src/launch/launch-plan.ts'
import { askWarnings, refuseUnkept, ruleName, standingRules } from '../../src/launch/permissions.ts'
import { promptText } from '../../src/launch/prompt.ts'
import { ninthProfile } from './profile.ts'

/** Pure, so that its tests need no program. Rules that it cannot keep refuse. */
export function launchNinth(request: LaunchRequest): LaunchPlan {
  const { title } = ninthProfile
  const { session, model, input, rules, permissions } = request
  const standing = standingRules(rules, permissions)
  return {
    args: [
      'run',
      '--json',
      ...flag('--model', model),
      ...(session.kind === 'new' ? [] : flag('--resume', session.nativeId)),
      '-',
    ],
    stdin: promptText(input, title),
    env: { NINTH_NO_UPDATE: '1' },
    warnings: [
      ...askWarnings(standing, title),
      ...refuseUnkept(request, title, standing.forbidden.map(ruleName), 'It knows no patterns.'),
    ],
  }
}
