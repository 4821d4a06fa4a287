import { addUsage, NO_USAGE, type RunState, type Store, type UsageTotals } from '@evener/protocol'
import { recordsAfter } from './load-state.ts'

/** What the steps of the open turn were billed for so far, whichever process asked the model. */
export async function usedInTurn(store: Store, stream: string, run: RunState): Promise<UsageTotals> {
  let used = NO_USAGE
  for await (const { body, turn } of recordsAfter(store, stream, run.startedSeq)) {
    if (turn !== run.turnId || body.type !== 'step.ended' || body.usage === undefined) continue
    if (body.usage.scope === 'own' && body.usage.uncounted !== true) used = addUsage(used, body.usage)
  }
  return used
}
