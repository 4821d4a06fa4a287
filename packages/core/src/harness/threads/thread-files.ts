import { InspanError } from '@inspan/protocol'
import type { CheckpointFile, Lineage, ThreadState } from '@inspan/protocol/log'
import type { ChangedFile, Checkpoints, RewindReport } from '@inspan/tools'
import type { FilesPort, FilesRewind, FilesTurn } from '../../engine/index.ts'
import { workspaceOf } from '../agents/mode-agents.ts'
import type { HarnessCore } from '../harness-core.ts'
import { removeOwnWorktree, worktreeFolder } from './thread-worktree.ts'

/** Keeps the files of a thread with the checkpoints of the workspace. */
export function threadFiles(core: HarnessCore, lineage: () => Lineage, worktree: () => string | undefined): FilesPort {
  const ofTurn = async ({ runId }: FilesTurn): Promise<Checkpoints | undefined> =>
    core.workspace.checkpoints(core.contexts.find(runId), worktree())
  return {
    baseline: async (turn) => (await ofTurn(turn))?.baseline(turn),
    keep: async (turn, path) => (await ofTurn(turn))?.keep(turn, path),
    end: async (turn) => {
      const checkpoints = await ofTurn(turn)
      if (checkpoints === undefined) return undefined
      const files = (await checkpoints.end(turn)).map(({ after, before, path }): CheckpointFile => {
        return { path, change: before === null ? 'added' : after === null ? 'removed' : 'changed' }
      })
      return { root: checkpoints.root, files }
    },
    rewind: async (to) => {
      const { turnId, ...report } = await restoreFiles(
        await core.workspace.checkpoints(undefined, worktree()),
        core,
        lineage(),
        to,
      )
      return {
        report: { ...report },
        conflicts: report.conflicts,
        ...(turnId === undefined ? {} : { checkpointId: turnId }),
      }
    },
    forget: async (thread, range) => {
      await (await core.workspace.checkpoints(undefined, worktree()))?.forget(thread, range)
      if (range === undefined) await removeOwnWorktree(core, await core.threads.registry.read(thread))
    },
  }
}

async function restoreFiles(
  checkpoints: Checkpoints | undefined,
  core: HarnessCore,
  lineage: Lineage,
  { dryRun, messageId, settled, upTo = Infinity }: FilesRewind,
): Promise<RewindReport> {
  if (checkpoints === undefined) {
    throw new InspanError('unsupported', 'The files of this thread are not kept, so they cannot be restored.', {
      hint: 'Give the harness a workspace with checkpoints.',
    })
  }
  const message = await core.store.getMessage(lineage, messageId)
  if (message === null) throw new InspanError('not-found', `The thread has no message "${messageId}".`)
  const isMeant = (turn: FilesTurn): boolean =>
    turn.seq <= upTo && (turn.seq >= message.order || (message.run !== undefined && turn.runId === message.run))
  return checkpoints.rewind(lineage, isMeant, { dryRun, ...(settled === undefined ? {} : { conflicts: settled }) })
}

/** Returns the files that a thread has changed, with their contents before and after. None where they are not kept. */
export async function changedFiles(core: HarnessCore, state: ThreadState): Promise<readonly ChangedFile[]> {
  const checkpoints = await core.workspace.checkpoints(undefined, worktreeFolder(core, state))
  return checkpoints?.changes(state.head.lineage) ?? []
}

/** How tools of different agents name the file that they change. */
const PATHS = ['path', 'file_path', 'filePath', 'file']

/** Returns the file that a waiting call would change, as it is now; `null` if there is none yet. */
export async function askedFile(
  core: HarnessCore,
  state: ThreadState,
  waitId: string,
): Promise<string | null | undefined> {
  const args = state.head.waits.get(waitId)?.subject.args
  const path = PATHS.map((name) => args?.[name]).find((value) => typeof value === 'string')
  if (path === undefined) return undefined
  const own = workspaceOf(core.agents.of(core.agents.modeOf(state)))
  return core.workspace.textOf(path, own, worktreeFolder(core, state))
}

/** Forgets what was kept of a thread's files, and removes its worktree. Returns what had to stay of that. */
export async function forgetFiles(
  core: HarnessCore,
  state: ThreadState,
): Promise<Awaited<ReturnType<typeof removeOwnWorktree>>> {
  const checkpoints = core.workspace.checkpoints(undefined, worktreeFolder(core, state))
  await (await checkpoints.catch(() => undefined))?.forget(state.head.stream)
  return removeOwnWorktree(core, state)
}
