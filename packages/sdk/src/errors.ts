import { InspanError, type ErrorCode } from '@inspan/protocol'

/** What went wrong. Each value equals its name. */
export const AgentSDKErrorType = {
  ABORTED: 'ABORTED',
  AGENT_ALREADY_EXISTS: 'AGENT_ALREADY_EXISTS',
  AGENT_NOT_FOUND: 'AGENT_NOT_FOUND',
  CHAT_SESSION_NOT_FOUND: 'CHAT_SESSION_NOT_FOUND',
  COMPACTION_FAILED: 'COMPACTION_FAILED',
  CONNECTIVITY_FAILED: 'CONNECTIVITY_FAILED',
  /** The manager, agent or session was destroyed, disposed of or shut down. */
  DISPOSED: 'DISPOSED',
  INCOMPATIBLE_HARNESS: 'INCOMPATIBLE_HARNESS',
  INVALID_MESSAGE_CONTENT: 'INVALID_MESSAGE_CONTENT',
  INVALID_OPTIONS: 'INVALID_OPTIONS',
  MCP_RECONNECT_FAILED: 'MCP_RECONNECT_FAILED',
  MCP_SERVER_NOT_FOUND: 'MCP_SERVER_NOT_FOUND',
  MODEL_NOT_SUPPORTED: 'MODEL_NOT_SUPPORTED',
  MULTIMODAL_NOT_SUPPORTED: 'MULTIMODAL_NOT_SUPPORTED',
  OPERATION_NOT_FOUND: 'OPERATION_NOT_FOUND',
  /** Another manager uses the storage folder. */
  STORAGE_IN_USE: 'STORAGE_IN_USE',
  /** Nothing waits for this tool call, or not for this kind of answer. */
  TOOL_CALL_NOT_PENDING: 'TOOL_CALL_NOT_PENDING',
  TURN_IN_PROGRESS: 'TURN_IN_PROGRESS',
  /** The harness cannot do this. `getCapabilities()` reports it beforehand. */
  UNSUPPORTED: 'UNSUPPORTED',
} as const

export type AgentSDKErrorType = (typeof AgentSDKErrorType)[keyof typeof AgentSDKErrorType]

const CODES: Readonly<Record<AgentSDKErrorType, ErrorCode>> = {
  ABORTED: 'closed',
  AGENT_ALREADY_EXISTS: 'already-exists',
  AGENT_NOT_FOUND: 'not-found',
  CHAT_SESSION_NOT_FOUND: 'not-found',
  COMPACTION_FAILED: 'io',
  CONNECTIVITY_FAILED: 'io',
  DISPOSED: 'closed',
  INCOMPATIBLE_HARNESS: 'unsupported',
  INVALID_MESSAGE_CONTENT: 'invalid-input',
  INVALID_OPTIONS: 'invalid-input',
  MCP_RECONNECT_FAILED: 'io',
  MCP_SERVER_NOT_FOUND: 'not-found',
  MODEL_NOT_SUPPORTED: 'unsupported',
  MULTIMODAL_NOT_SUPPORTED: 'unsupported',
  OPERATION_NOT_FOUND: 'not-found',
  STORAGE_IN_USE: 'held',
  TOOL_CALL_NOT_PENDING: 'conflict',
  TURN_IN_PROGRESS: 'conflict',
  UNSUPPORTED: 'unsupported',
}

/** The error of every predictable failure of the SDK. `type` says which. */
export class AgentSDKError extends InspanError {
  readonly type: AgentSDKErrorType

  constructor(
    type: AgentSDKErrorType,
    message: string,
    options: { hint?: string; details?: Readonly<Record<string, unknown>>; cause?: unknown } = {},
  ) {
    super(CODES[type], message, options)
    this.name = 'AgentSDKError'
    this.type = type
  }
}

export function disposed(what: string): AgentSDKError {
  return new AgentSDKError('DISPOSED', `${what} can no longer be used.`, {
    hint: 'It was destroyed, disposed of or shut down.',
  })
}

export function unsupported(harnessId: string, what: string, hint?: string): AgentSDKError {
  return new AgentSDKError('UNSUPPORTED', `The harness "${harnessId}" does not support ${what}.`, {
    ...(hint === undefined ? {} : { hint }),
    details: { harnessId },
  })
}

/** Throws the reason of a signal that was aborted, as a typed error. */
export function throwIfAborted(signal: AbortSignal | undefined): void {
  if (signal?.aborted !== true) return
  throw new AgentSDKError('ABORTED', 'The operation was aborted.', { cause: signal.reason })
}
