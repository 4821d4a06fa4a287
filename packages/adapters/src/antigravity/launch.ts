import { InspanError } from '@inspan/protocol'
import { flag } from '../launch/args.ts'
import type { LaunchPlan, LaunchRequest } from '../launch/launch-plan.ts'
import { askWarnings, refuseUnkept, ruleName, standingRules } from '../launch/permissions.ts'
import { promptText } from '../launch/prompt.ts'
import { antigravityProfile } from './profile.ts'

export interface AntigravityLaunchOptions {
  /** Further command line arguments. */
  readonly args?: readonly string[]
}

const WHY = 'It can be told no rules.'

/** Returns how to start `agy --print` for one turn. Best effort: relies on as little as possible. */
export function launchAntigravity(request: LaunchRequest, options: AntigravityLaunchOptions = {}): LaunchPlan {
  const { title } = antigravityProfile
  const standing = standingRules(request.rules, request.permissions)
  const { categories, tools, forbidden } = standing
  if (Object.keys(request.mcp).length > 0) {
    throw new InspanError('unsupported', `${title} cannot be given MCP servers for one run.`, {
      hint: 'Set them up in its own settings, or leave them out.',
    })
  }
  const denied = [
    ...Object.entries(categories).flatMap(([category, policy]) =>
      policy === 'deny' ? `deny every ${category} tool` : [],
    ),
    ...[...tools].flatMap(([tool, policy]) => (policy === 'deny' ? `deny ${tool}` : [])),
    ...forbidden.map(ruleName),
  ]
  const warnings = [...askWarnings(standing, title), ...refuseUnkept(request, title, denied, WHY)]
  const unsupported = [
    ...(request.instructions === undefined ? [] : ['instructions']),
    ...(request.maxSteps === undefined ? [] : ['a number of steps']),
  ]
  return {
    args: [
      // Otherwise it waits for a person at its first tool.
      ...(request.permissions === 'full' ? ['--dangerously-skip-permissions'] : []),
      ...flag('--model', request.model),
      ...(options.args ?? []),
      '--print',
      promptText(request.input, title),
    ],
    warnings: [
      ...warnings,
      ...unsupported.map((what) => ({ message: `${title} cannot be given ${what}.`, code: 'ignored-option' })),
    ],
  }
}
