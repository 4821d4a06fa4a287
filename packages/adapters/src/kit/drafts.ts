import type { ActivityDraft } from './activity.ts'
import type { Mutable } from './event-parts.ts'
import type { ReportedOutcome } from './tool-table.ts'

/** The drafts that most rules make. Each is written out, because spreading objects into each other is slow. */

type MutableDraft<Type extends ActivityDraft['type']> = Mutable<Extract<ActivityDraft, { readonly type: Type }>>

/** A range of lines, inclusive. */
export interface Lines {
  readonly startLine?: number
  readonly endLine?: number
}

export function commandDraft(
  command: string,
  exitCode: number | undefined,
  isSuccess: boolean | undefined,
  workingDirectory?: string,
): ActivityDraft {
  if (workingDirectory === undefined && exitCode !== undefined && isSuccess !== undefined) {
    return { type: 'command', command, exitCode, isSuccess }
  }
  const draft: MutableDraft<'command'> =
    workingDirectory === undefined ? { type: 'command', command } : { type: 'command', command, workingDirectory }
  if (exitCode !== undefined) draft.exitCode = exitCode
  if (isSuccess !== undefined) draft.isSuccess = isSuccess
  return draft
}

export function readDraft(path: string, { startLine, endLine }: Lines, outcome: ReportedOutcome): ActivityDraft {
  const draft: MutableDraft<'read'> =
    startLine === undefined ? { type: 'read', path } : { type: 'read', path, startLine }
  if (endLine !== undefined) draft.endLine = endLine
  return ended(draft, outcome)
}

export function writeDraft(path: string, outcome: ReportedOutcome): ActivityDraft {
  return ended({ type: 'write', path }, outcome)
}

export function searchDraft(query: string, path: string | undefined, outcome: ReportedOutcome): ActivityDraft {
  return ended(path === undefined ? { type: 'search', query } : { type: 'search', query, path }, outcome)
}

export function listDraft(path: string | undefined, outcome: ReportedOutcome): ActivityDraft {
  return ended(path === undefined ? { type: 'list' } : { type: 'list', path }, outcome)
}

export function skillDraft(path: string, skillName: string | undefined, outcome: ReportedOutcome): ActivityDraft {
  return ended(skillName === undefined ? { type: 'skill', path } : { type: 'skill', path, skillName }, outcome)
}

/** Adds whether the operation succeeded, if that is known. */
function ended(
  draft:
    | MutableDraft<'read'>
    | MutableDraft<'write'>
    | MutableDraft<'search'>
    | MutableDraft<'list'>
    | MutableDraft<'skill'>,
  { isSuccess }: ReportedOutcome,
): ActivityDraft {
  if (isSuccess !== undefined) draft.isSuccess = isSuccess
  return draft
}
