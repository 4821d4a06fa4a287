import { appendFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { TestContext } from 'node:test'
import type { CliProfile } from '../launch/profile.ts'
import type { Ability, Mode } from './abilities.ts'
import { inTurn } from './side-by-side.ts'

/** What a test shows of a program when it passes. */
export type Claim =
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
  /** In which way it does, or why it does not. */
  readonly note?: string
}

/** The folder in which a run of the suites collects what they have shown. */
export const PROOFS_VARIABLE = 'EVENER_REAL_PROOFS'

/** A program whose scenarios are played in another way than in print mode is kept running and talked to. */
export function modeOf({ way }: { readonly way?: string }): Mode {
  return way === undefined ? 'print' : 'live'
}

/** What a test does. What it gives back counts instead of what was claimed for it. */
export type ProvingBody = (t: TestContext) => Promise<Claim | void>

/** The body of a test, played when it is its turn; when it has passed, what it claims is written down. */
export function proving(
  profile: CliProfile,
  mode: Mode,
  claims: Claim | readonly Claim[],
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

function verdicts(claim: Claim): readonly Pick<Proof, 'ability' | 'works' | 'note'>[] {
  if (typeof claim === 'string') return [{ ability: claim, works: true }]
  if ('cannot' in claim) {
    return [claim.cannot].flat().map((ability) => ({ ability, works: false, note: claim.because }))
  }
  const note = claim.but === undefined ? {} : { note: claim.but }
  return [claim.can].flat().map((ability) => ({ ability, works: true, ...note }))
}
