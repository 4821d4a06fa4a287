import { forEachChild } from 'unbash'
import type { SyntaxNode } from 'unbash'

import { Refusal } from './refusal.ts'

/** In dash `((rm x))` is two subshells, `[[ a && rm x ]]` two commands, and `$'\''` an open quote. */
const BASH_ONLY = new Set<SyntaxNode['type']>([
  'AnsiCQuoted',
  'ArithmeticCommand',
  'ArithmeticFor',
  'ArrayValue',
  'Coproc',
  'ExtendedGlob',
  'HereString',
  'LocaleString',
  'ProcessSubstitution',
  'Select',
  'TestCommand',
])

/** Refuses a script for `sh` that bash and a plain POSIX shell would run differently. */
export function checkPosix(node: SyntaxNode): void {
  const differs =
    BASH_ONLY.has(node.type) ||
    (node.type === 'Redirect' && node.operator.startsWith('&')) ||
    (node.type === 'Pipeline' && node.operators.includes('|&')) ||
    (node.type === 'Assignment' && node.append === true) ||
    (node.type === 'Function' && node.name.pos !== node.pos)
  if (differs) throw new Refusal('bash syntax that sh reads differently')
  forEachChild(node, checkPosix)
}
