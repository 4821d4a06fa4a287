/** For servers and clients: commands, state, messages on the wire. */
export { toWire, type Wire } from '../wire-form.ts'
export {
  COMMAND_TYPES,
  type ApproveCommand,
  type CancelCommand,
  type Command,
  type CommandAttachment,
  type CommandBase,
  type CommandType,
  type ConfigureCommand,
  type DenyCommand,
  type Effort,
  type Expectation,
  type PermissionMode,
  type ResumeCommand,
  type RewindCommand,
  type RuntimeConfig,
  type SteerCommand,
  type SubmitCommand,
} from '../command.ts'
export {
  WIRE_VERSION,
  type ClientHello,
  type ClientMessage,
  type CommandsMessage,
  type DeltaMessage,
  type ErrorMessage,
  type HelloMessage,
  type ReceiptMessage,
  type ReceiptStatus,
  type RejectReason,
  type ResyncReason,
  type ServerMessage,
  type SnapshotMessage,
  type StateMessage,
} from '../wire.ts'
export {
  toHarnessState,
  type HarnessState,
  type HarnessStatus,
  type PendingApproval,
  type WireAttachment,
  type WireMessage,
} from '../harness-state.ts'
export type { HarnessToolCall } from '../wire-calls.ts'
