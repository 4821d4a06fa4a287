/** Marks our errors across duplicate copies of this package, where `instanceof` fails. */
const MARKER: symbol = Symbol.for('inspan.error')

export const ErrorCode = {
  /** The caller broke the contract of a function. */
  misuse: 'misuse',
  notFound: 'not-found',
  alreadyExists: 'already-exists',
  /** Another process owns the thread; `details` name it. */
  held: 'held',
  /** We lost ownership of the thread: the write was refused. */
  fenced: 'fenced',
  /** The same command id came with another body. */
  conflict: 'conflict',
  expired: 'expired',
  closed: 'closed',
  /** The agent lacks a capability that the operation needs. */
  unsupported: 'unsupported',
  /** The agent cannot enforce a rule that is in force. */
  policyUnsupported: 'policy-unsupported',
  /** The thread was written under redaction, and nobody here has a redactor. */
  redactorRequired: 'redactor-required',
  invalidInput: 'invalid-input',
  /** An agent did not return the data it was asked for. */
  invalidOutput: 'invalid-output',
  /** The file is not a database of ours. */
  foreignFile: 'foreign-file',
  corrupt: 'corrupt',
  readOnly: 'read-only',
  diskFull: 'disk-full',
  /** A tenant has used up what it may have; `details` say of what, how much and how much it has. */
  quotaExceeded: 'quota-exceeded',
  /** Written by a newer version of Inspan. */
  newerVersion: 'newer-version',
  io: 'io',
} as const

export type ErrorCode = (typeof ErrorCode)[keyof typeof ErrorCode]

/** The base class of every error Inspan throws: a stable `code`, what happened, and a hint what to do about it. */
export class InspanError extends Error {
  readonly code: ErrorCode
  readonly hint: string | undefined
  readonly details: Readonly<Record<string, unknown>>

  constructor(
    code: ErrorCode,
    message: string,
    options: { hint?: string; details?: Readonly<Record<string, unknown>>; cause?: unknown } = {},
  ) {
    super(
      options.hint === undefined ? message : `${message} ${options.hint}`,
      options.cause === undefined ? undefined : { cause: options.cause },
    )
    this.name = 'InspanError'
    Object.defineProperty(this, MARKER, { value: true })
    this.code = code
    this.hint = options.hint
    this.details = options.details ?? {}
  }

  static is(value: unknown, code?: ErrorCode): value is InspanError {
    return value instanceof Error && MARKER in value && (code === undefined || ('code' in value && value.code === code))
  }
}
