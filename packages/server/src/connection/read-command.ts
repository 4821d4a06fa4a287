import { describeIssues } from '@inspan/protocol/internal'
import { LIMITS, schemas } from '@inspan/protocol/schema'
import { COMMAND_TYPES, type Command, type ReceiptMessage } from '@inspan/protocol/wire'

interface CommandRefusal {
  /** The id of the command, if it has a usable one. */
  readonly id?: string
  readonly outcome: Required<Pick<ReceiptMessage, 'status' | 'reason' | 'message'>>
}

type ReadCommand =
  | { readonly command: Command; readonly refusal?: never }
  | { readonly command?: never; readonly refusal: CommandRefusal }

/** Checks a command from outside. One that this version does not know is refused in other words than a malformed one. */
export function readCommand(given: unknown): ReadCommand {
  const command = schemas.Command.safeParse(given)
  if (command.success) return { command: command.data }
  const { id, type } = (typeof given === 'object' && given !== null ? given : {}) as { id?: unknown; type?: unknown }
  const isKnown = COMMAND_TYPES.some((each) => each === type)
  const message = isKnown
    ? `The command is invalid: ${describeIssues(command.error.issues)}.`
    : 'This server does not know the command.'
  const outcome = { status: 'rejected', reason: isKnown ? 'invalid' : 'unsupported', message } as const
  return { refusal: { ...(typeof id === 'string' && id.length <= LIMITS.id ? { id } : {}), outcome } }
}
