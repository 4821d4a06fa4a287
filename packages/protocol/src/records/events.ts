import type {
  ErrorRecord,
  FileRecord,
  ReasoningDeltaRecord,
  TextDeltaRecord,
  ToolCallRecord,
  ToolResultRecord,
} from '../control-record.ts'
import { redactFailure, redactMeta, redactPart, type Redaction } from '../redact.ts'
import { ERASED, eraseAddress, eraseCall } from './erase.ts'

/**
 * The definition of every record that holds an agent event. Its type, its schema, its version and how it is erased and redacted follow
 * from it. `RecordDefinition` explains the members, `FieldTypes` the words.
 */
export const EVENT_RECORDS = {
  'text-delta': {
    v: 1,
    sealed: true,
    event: { text: 'text' },
    fields: { messageId: 'text', partId: 'text' },
    erase: (body: TextDeltaRecord): TextDeltaRecord => ({ ...eraseAddress(body), type: body.type, text: '' }),
    redact: (body: TextDeltaRecord, redaction: Redaction): TextDeltaRecord => redactPart(body, redaction),
  },
  'reasoning-delta': {
    v: 1,
    sealed: true,
    event: { text: 'text' },
    fields: { messageId: 'text', partId: 'text' },
    erase: (body: ReasoningDeltaRecord): ReasoningDeltaRecord => ({ ...eraseAddress(body), type: body.type, text: '' }),
    redact: (body: ReasoningDeltaRecord, redaction: Redaction): ReasoningDeltaRecord => redactPart(body, redaction),
  },
  /** A large file is kept as a blob. */
  file: {
    v: 1,
    sealed: true,
    event: {
      mimeType: 'text',
      /** Base64 without a `data:` prefix; empty when `ref` or `url` is set. */
      data: 'text',
      'fileName?': 'text',
      /** Set instead of `data` when the file is large: the blob that holds its bytes. */
      'ref?': 'BlobRef',
      /** Set instead of `data` when only the address of the file is known. The file itself is not stored. */
      'url?': 'text',
    },
    fields: { messageId: 'text', partId: 'text' },
    erase: (body: FileRecord): FileRecord => ({
      ...eraseAddress(body),
      type: body.type,
      mimeType: body.mimeType,
      data: '',
    }),
    redact: (body: FileRecord, redaction: Redaction): FileRecord => redactPart(body, redaction),
  },
  'tool-call': {
    v: 1,
    sealed: true,
    event: {
      toolCallId: 'text',
      toolName: 'text',
      args: 'object',
      'annotations?': 'ToolAnnotations',
      /** Set when the tool came from an MCP server. */
      'serverName?': 'text',
    },
    fields: { messageId: 'text', partId: 'text' },
    erase: (body: ToolCallRecord): ToolCallRecord => ({ ...eraseCall(body), type: body.type, args: {} }),
    redact: (body: ToolCallRecord, redaction: Redaction): ToolCallRecord => redactPart(body, redaction),
  },
  'tool-result': {
    v: 1,
    barrier: true,
    sealed: true,
    event: {
      toolCallId: 'text',
      toolName: 'text',
      result: 'json',
      'isError?': 'flag',
      'error?': 'ErrorData',
      'annotations?': 'ToolAnnotations',
      'serverName?': 'text',
    },
    fields: {
      messageId: 'text',
      partId: 'text',
      /** Set instead of `result` when the result is large. */
      'resultRef?': 'BlobRef',
      /** The address of the call. */
      'call?': 'PartAddress',
      'outcome?': 'CallOutcome',
    },
    erase: (body: ToolResultRecord): ToolResultRecord => ({
      ...eraseCall(body),
      type: body.type,
      result: null,
      ...(body.isError === undefined ? {} : { isError: body.isError }),
      ...(body.call === undefined ? {} : { call: body.call }),
      ...(body.outcome === undefined ? {} : { outcome: body.outcome }),
    }),
    redact: (body: ToolResultRecord, redaction: Redaction): ToolResultRecord => redactPart(body, redaction),
  },
  error: {
    v: 1,
    event: { error: 'ErrorData', 'code?': 'text' },
    fields: {},
    erase: (body: ErrorRecord): ErrorRecord => ({
      type: body.type,
      error: { name: body.error.name, message: '' },
      meta: ERASED,
    }),
    redact: (body: ErrorRecord, redaction: Redaction): ErrorRecord => ({
      ...redactFailure(body, redaction),
      ...(body.meta === undefined ? {} : { meta: redactMeta(body.meta, redaction, true) }),
    }),
  },
} as const
