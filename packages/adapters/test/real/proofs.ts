import { appendFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { TestContext } from 'node:test'
import type { CliProfile } from '../../src/launch/profile.ts'
import type { Ability, Mode } from './abilities.ts'
import { inTurn } from './side-by-side.ts'

/** What a test proves of a CLI if it passes. */
export type AbilityClaim =
  | Ability
  | { readonly can: Ability | readonly Ability[]; readonly but?: string | undefined }
  | { readonly cannot: Ability | readonly Ability[]; readonly because: string }

/** One cell of the tables. */
export interface Proof {
  readonly program: string
  readonly version: string
  readonly mode: Mode
  readonly ability: Ability
  readonly works: boolean
  /** How it works, or why it does not. */
  readonly note?: string
}

/** The folder in which a run of the suites collects the proofs. */
export const PROOFS_VARIABLE = 'INSPAN_REAL_PROOFS'

/** Returns the mode. Scenarios with a `way` run in live mode. */
export function modeOf({ way }: { readonly way?: string }): Mode {
  return way === undefined ? 'print' : 'live'
}

/** The body of a test. What it returns replaces the claims of the test. */
export type ProvingBody = (t: TestContext) => Promise<AbilityClaim | void>

/** Returns the body of a test, which waits for its turn. If it passes, its claims are written as proofs. */
export function proving(
  profile: CliProfile,
  mode: Mode,
  claims: AbilityClaim | readonly AbilityClaim[],
  body: ProvingBody,
): (t: TestContext) => Promise<void> {
  return async (t) => {
    const shown = (await inTurn(() => body(t))) ?? claims
    const folder = process.env[PROOFS_VARIABLE]
    if (folder === undefined || folder === '') return
    const { title: program, npm } = profile
    const proofs = [shown]
      .flat()
      .flatMap((claim) => verdicts(claim))
      .map((verdict): Proof => ({ program, version: npm?.version ?? '', mode, ...verdict }))
    const lines = proofs.map((proof) => `${JSON.stringify(proof)}\n`)
    await appendFile(join(folder, `${profile.id}-${mode}-${process.pid}.jsonl`), lines.join(''))
  }
}

function verdicts(claim: AbilityClaim): readonly Pick<Proof, 'ability' | 'works' | 'note'>[] {
  if (typeof claim === 'string') return [{ ability: claim, works: true }]
  if ('cannot' in claim) {
    return [claim.cannot].flat().map((ability) => ({ ability, works: false, note: claim.because }))
  }
  const note = claim.but === undefined ? {} : { note: claim.but }
  return [claim.can].flat().map((ability) => ({ ability, works: true, ...note }))
}
