import { InspanError, type Answer, type JsonObject, type Wait } from '@inspan/protocol'
import { REWIND_SETTING, type RecordBody, type RewindRecord } from '@inspan/protocol/log'
import type { CommandResult, RewindCommand } from '@inspan/protocol/wire'
import type { FilesRewound, ThreadRuntimeOptions } from '../thread-options.ts'
import { boundaryAt, requireMessage } from '../threads/boundaries.ts'
import type { ThreadHold } from '../threads/thread-hold.ts'
import { requireNoRun, rewindThread } from '../threads/threads.ts'
import { timeOrderedId } from '../../common/time-ordered-id.ts'
import { stateOfWait } from '../waits/answered-waits.ts'
import type { Settle } from './ledger.ts'

type Log = ThreadHold['log']
type RewindPorts = Pick<ThreadRuntimeOptions, 'newId' | 'files' | 'store' | 'thread'>
type Done = Extract<CommandResult, { status: 'done' }>
type RewindScope = NonNullable<RewindCommand['scope']>

/** What the answer to a conflict has to know. It is stored with the wait and not shown to anybody. */
interface Conflict {
  readonly messageId: string
  readonly scope: RewindScope
  readonly files: readonly string[]
  /** Later turns are not what the person wanted to undo. */
  readonly upTo: number
}

const TOOL_NAME = 'rewind'
const CHOICES = [
  { label: 'overwrite', description: 'Restore these files too. What was changed since is lost.' },
  { label: 'keep', description: 'Leave these files as they are and restore the others.' },
  { label: 'cancel', description: 'Restore nothing.' },
]

/** Rewinds files, conversation or both. If somebody else changed a file since, it asks first, by a wait. */
export async function rewind(
  log: Log,
  { newId = timeOrderedId, files, store, thread }: RewindPorts,
  { dryRun = false, messageId, scope = 'files' }: RewindCommand,
  settle: Settle,
): Promise<Done> {
  requireNoRun(log)
  const message = await requireMessage(store, log.state.head, messageId)
  const restored = scope === 'conversation' ? undefined : await files?.rewind({ thread, messageId, dryRun })
  if (scope !== 'conversation' && restored === undefined) {
    throw new InspanError('unsupported', 'The files of this thread are not kept, so they cannot be restored.', {
      hint: 'Rewind with the scope "conversation".',
    })
  }
  if (!dryRun && restored?.conflicts !== undefined && restored.conflicts.length > 0) {
    const conflict = { messageId, scope, files: restored.conflicts, upTo: log.state.head.seq }
    const waitId = newId()
    const result: Done = { status: 'done', result: { ...restored.report, waitId } }
    await log.commit(
      [...ask(log, waitId, conflict), ...reported({ messageId, scope, dryRun }, restored)],
      {},
      settle(result),
    )
    return result
  }
  const result: Done = { status: 'done', ...(restored === undefined ? {} : { result: restored.report }) }
  const notes = reported({ messageId, scope, dryRun }, restored)
  if (scope === 'files' || dryRun) {
    await log.commit(notes, {}, settle(result))
    return result
  }
  const to = await boundaryAt(store, log.state.head.lineage, message.order - 1)
  await rewindThread(store, log, to, undefined, { more: filesOf(restored), notes, extras: settle(result) })
  return result
}

/** Whether the wait asks what to do about files that somebody else has changed. */
export function isConflictWait({ run, subject }: Wait): boolean {
  return run === undefined && subject.toolName === TOOL_NAME
}

/** Carries out a rewind as a person decided about its conflicts. Repeating it after a crash does no harm. */
export async function answerConflict(
  log: Log,
  { newId = timeOrderedId, files, store, thread }: RewindPorts,
  { answer, by, wait }: { readonly wait: Wait; readonly answer: Answer; readonly by?: string },
  settle: Settle,
): Promise<Done> {
  const answered: RecordBody = { type: 'wait.answered', waitId: wait.id, answer }
  const origin = by === undefined ? {} : { by }
  const choice = answer.decision === 'decline' ? 'cancel' : answer.value
  if (choice !== 'overwrite' && choice !== 'keep') {
    const result: Done = { status: 'done' }
    await log.commit([answered], origin, settle(result))
    return result
  }
  requireNoRun(log)
  const state = await stateOfWait(store, log.stream, wait)
  if (state === undefined)
    throw new InspanError('corrupt', `The record of "${wait.description}" does not say what it is about.`)
  const conflict = JSON.parse(state) as Conflict
  const { messageId, scope, upTo } = conflict
  const settled = { answer: choice, files: conflict.files } as const
  const restored = await files?.rewind({ thread, messageId, dryRun: false, upTo, settled })
  if (restored?.conflicts !== undefined && restored.conflicts.length > 0) {
    const more = { ...conflict, files: [...conflict.files, ...restored.conflicts] }
    await log.commit(ask(log, newId(), more))
    throw new InspanError('conflict', `These files have been changed meanwhile: ${restored.conflicts.join(', ')}.`, {
      hint: 'Nothing was restored. The question was asked again, with these files.',
    })
  }
  const result: Done = { status: 'done', ...(restored === undefined ? {} : { result: restored.report }) }
  const notes = reported({ messageId, scope, dryRun: false }, restored)
  if (scope === 'files') {
    await log.commit([answered, ...notes], origin, settle(result))
    return result
  }
  const message = await requireMessage(store, log.state.head, messageId)
  const to = await boundaryAt(store, log.state.head.lineage, message.order - 1)
  const more = { more: filesOf(restored), notes, extras: settle(result), before: [answered], origin }
  await rewindThread(store, log, to, undefined, more)
  return result
}

/** Returns the records that ask about the conflict, in place of an earlier question about another rewind. */
function ask({ state }: Log, waitId: string, conflict: Conflict): RecordBody[] {
  const earlier = [...state.head.waits].filter(isConflictWait)
  const { files } = conflict
  const question = `Somebody else has changed ${files.length === 1 ? 'a file' : `${files.length} files`} since. Restore anyway?`
  const payload: JsonObject = { question, options: CHOICES, selectionMode: 'single_select', files }
  return [
    ...earlier.map(({ id }): RecordBody => ({ type: 'wait.superseded', waitId: id, byWaitId: waitId })),
    {
      type: 'wait.opened',
      wait: {
        id: waitId,
        kind: 'question',
        subject: { toolName: TOOL_NAME },
        description: `${question} ${files.join(', ')}`,
        payload,
        answerSchema: JSON.stringify({ enum: CHOICES.map(({ label }) => label) }),
      },
      state: JSON.stringify(conflict),
    },
  ]
}

/** Returns the report as part of the state, so that a client that gets no receipts sees it, too. */
function reported(
  about: { readonly messageId: string; readonly scope: RewindScope; readonly dryRun: boolean },
  restored: FilesRewound | undefined,
): RecordBody[] {
  if (restored === undefined) return []
  return [{ type: 'config.changed', settings: { [REWIND_SETTING]: { ...about, report: restored.report } } }]
}

function filesOf(restored: FilesRewound | undefined): Pick<RewindRecord, 'files'> {
  return restored?.checkpointId === undefined ? {} : { files: { checkpointId: restored.checkpointId } }
}
