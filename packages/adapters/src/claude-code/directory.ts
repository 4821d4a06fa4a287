import type { JsonObject } from '@inspan/protocol'
import { directoryAfter } from '@inspan/shell/read'
import { asObject, asText, firstText, NO_FIELDS } from '../kit/fields.ts'
import type { ReportedOutcome } from '../kit/tool-table.ts'

/** The last line of the CLI's own remarks if a command has left the directories that it may work in. */
const RESET = /(?:^|\n)Shell cwd was reset to (.+)\s*$/

/**
 * Returns the directory that Claude Code continues in after a call, also for its other tools. Null if that is unknown;
 * `undefined` if it has not changed.
 */
export function nextDirectory(
  call: { readonly name: string; readonly input: JsonObject },
  outcome: ReportedOutcome,
  { cwd }: { readonly cwd: string | undefined },
): string | null | undefined {
  const details = asObject(outcome.detail) ?? NO_FIELDS
  switch (call.name) {
    case 'Bash':
      return afterCommand(call.input, outcome, asText(details['stderr']) ?? '', cwd)
    case 'EnterWorktree':
      return outcome.isSuccess === true ? (asText(details['worktreePath']) ?? null) : undefined
    case 'ExitWorktree':
      return outcome.isSuccess === true ? (firstText(details, 'restoredCwd', 'originalCwd') ?? null) : undefined
    default:
      return undefined
  }
}

/** A command that succeeds leaves the shell in the directory where it ends. */
function afterCommand(
  input: JsonObject,
  { isSuccess }: ReportedOutcome,
  // Commands' standard error is part of the output: this is what Claude Code says itself.
  remarks: string,
  cwd: string | undefined,
): string | null | undefined {
  const reset = RESET.exec(remarks)?.[1]
  if (reset !== undefined) return reset
  const command = isSuccess === true ? asText(input['command']) : undefined
  return command === undefined ? undefined : directoryAfter(command, cwd)
}
