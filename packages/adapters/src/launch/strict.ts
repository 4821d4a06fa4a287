import { InspanError } from '@inspan/protocol'
import type { RunWarning } from './run-note.ts'

/** Codes of warnings that mean: the CLI cannot do what was asked, so something else is done. */
const REFUSALS: ReadonlyMap<string, 'unsupported' | 'policy-unsupported'> = new Map([
  ['new-session', 'unsupported'],
  ['no-tool', 'unsupported'],
  ['max-steps', 'unsupported'],
  ['ignored-option', 'unsupported'],
  ['rule-asks', 'policy-unsupported'],
])

/** Throws for the first warning that means that something else would be done than what was asked. */
export function refuseInstead(warnings: readonly RunWarning[]): void {
  for (const { message, code = '' } of warnings) {
    const refusal = REFUSALS.get(code)
    if (refusal === undefined) continue
    throw new InspanError(refusal, message, {
      hint: 'Ask for less, choose an agent that can do this, or leave out `strict`: then this is a warning.',
      details: { instead: code },
    })
  }
}
