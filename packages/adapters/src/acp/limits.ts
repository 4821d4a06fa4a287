import type { PermissionRules } from '@inspan/protocol'
import { ruleName } from '../launch/permissions.ts'

/** Returns every rule that asks or denies, as text for people. */
export function limitsOf({ categories, tools, patterns }: PermissionRules): readonly string[] {
  return [
    ...Object.entries(categories).flatMap(([name, policy]) =>
      policy === 'allow' ? [] : `${policy} every ${name} tool`,
    ),
    ...Object.entries(tools).flatMap(([name, policy]) => (policy === 'allow' ? [] : `${policy} ${name}`)),
    ...patterns.filter(({ policy }) => policy !== 'allow').map(ruleName),
  ]
}
