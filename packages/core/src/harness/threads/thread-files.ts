import { InspanError, type JsonValue } from '@inspan/protocol'
import type { Lineage } from '@inspan/protocol/log'
import type { ChangedFile, Checkpoints, RewindReport } from '@inspan/tools'
import { deleteThread, type DeleteReport } from '../../engine/erase/delete-thread.ts'
import type { FilesPort, FilesTurn } from '../../engine/thread-options.ts'
import type { HarnessCore } from '../harness-core.ts'

/** Keeps the files of a thread with the checkpoints of the workspace. */
export function threadFiles(core: HarnessCore, lineage: () => Lineage): FilesPort {
  const ofTurn = async ({ runId }: FilesTurn): Promise<Checkpoints | undefined> =>
    core.workspace.checkpoints(core.contexts.find(runId))
  return {
    baseline: async (turn) => (await ofTurn(turn))?.baseline(turn),
    keep: async (turn, path) => (await ofTurn(turn))?.keep(turn, path),
    end: async (turn) => (await ofTurn(turn))?.end(turn),
    rewind: async ({ dryRun, messageId }) => {
      const report = await restoreFiles(core, { dryRun, messageId, lineage: lineage() })
      return { report: report as unknown as JsonValue }
    },
  }
}

export interface FilesRewind {
  readonly lineage: Lineage
  readonly messageId: string
  readonly dryRun: boolean
}

/** Puts the files back as they were before the turn of a message. Changes nothing if somebody else changed one since. */
export async function restoreFiles(
  core: HarnessCore,
  { dryRun, lineage, messageId }: FilesRewind,
): Promise<RewindReport> {
  const checkpoints = await core.workspace.checkpoints()
  if (checkpoints === undefined) {
    throw new InspanError('unsupported', 'The files of this thread are not kept, so they cannot be restored.', {
      hint: 'Give the harness a workspace with checkpoints.',
    })
  }
  const message = await core.store.getMessage(lineage, messageId)
  if (message === null) throw new InspanError('not-found', `The thread has no message "${messageId}".`)
  const isMeant = (turn: FilesTurn): boolean =>
    turn.seq >= message.order || (message.run !== undefined && turn.runId === message.run)
  const report = await checkpoints.rewind(lineage, isMeant, { dryRun })
  if (dryRun || report.conflicts.length === 0) return report
  throw new InspanError('conflict', `Somebody else has changed these files since: ${report.conflicts.join(', ')}.`, {
    hint: 'Nothing was restored. Undo those changes or move the files away, then rewind again.',
    details: { conflicts: report.conflicts },
  })
}

/** Returns the files that a thread has changed, with their contents before and after. None where they are not kept. */
export async function changedFiles(core: HarnessCore, lineage: Lineage): Promise<readonly ChangedFile[]> {
  return (await core.workspace.checkpoints())?.changes(lineage) ?? []
}

/** Deletes a thread together with what was kept of its files. */
export async function deleteWithFiles(core: HarnessCore, threadId: string): Promise<DeleteReport> {
  const { spool } = core.config
  await (await core.workspace.checkpoints().catch(() => undefined))?.forget(threadId)
  return deleteThread(core.store, await core.threads.owner(), threadId, spool === undefined ? {} : { spool })
}
