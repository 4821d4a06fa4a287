import type { Client } from '@inspan/client'
import { forgetComparison, type KeptComparison } from './comparisons.ts'

/**
 * Ends a comparison: makes the changes of the lane that is kept in the workspace, and deletes the other lanes with their
 * worktrees. If the changes do not fit, it throws and nothing is dropped.
 */
export async function endComparison(
  client: Client,
  comparison: KeptComparison,
  kept: string | undefined,
): Promise<void> {
  const { routes } = client
  const hasTrees = comparison.how === 'worktrees'
  if (hasTrees && kept !== undefined) await routes.endWorktree(kept, 'apply')
  for (const { thread } of comparison.lanes) {
    if (thread === kept) continue
    if (hasTrees) await discardWorktree(client, thread)
    // Somebody may have deleted it in another tab.
    await routes.deleteThread(thread).catch(() => undefined)
  }
  forgetComparison(comparison.id)
}

/** A worktree cannot go while its agent works there, so a run that is still open is cancelled first. */
async function discardWorktree(client: Client, thread: string): Promise<void> {
  await client.send({ type: 'cancel', thread }).receipt
  await client.routes.endWorktree(thread, 'discard').catch(() => undefined)
}
