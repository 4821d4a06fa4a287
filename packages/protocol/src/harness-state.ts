import type { BlobRef } from './blob.ts'
import type { Head } from './head.ts'
import type { IdList } from './id-list.ts'
import { REWIND_SETTING } from './content-settings.ts'
import type { JsonObject, JsonValue } from './json.ts'
import type { MessageState, ThreadMessage } from './message.ts'
import type { ThreadView } from './view.ts'
import type { WaitKind } from './wait.ts'
import { shownConfig, type ShownConfig } from './shown-config.ts'
import { isForPerson, WireCalls, type HarnessToolCall } from './wire-calls.ts'

export type HarnessStatus = 'idle' | 'running' | 'awaiting-approval' | 'error'

export interface PendingApproval {
  /** The id that `approve` and `deny` take: that of the waiting call, or of the wait when no call waits. */
  readonly toolCallId: string
  readonly toolName: string
  readonly description: string
  readonly waitId: string
  /** Every kind but `approval` needs an answer along with the approval. */
  readonly kind: WaitKind
  readonly input?: JsonObject
  /** What to show: question and options, plan, path. */
  readonly payload?: JsonObject
  /** JSON Schema of the answer, as text. */
  readonly answerSchema?: string
}

export interface WireAttachment {
  readonly mimeType: string
  readonly fileName?: string
  /** Base64; empty when `ref` or `url` is set. */
  readonly data: string
  readonly ref?: BlobRef
  /** The address of the file, when only that is known. */
  readonly url?: string
}

/** A message as a client shows it: all its text as one string, its calls with their results. */
export interface WireMessage {
  readonly id: string
  readonly role: 'user' | 'assistant' | 'system'
  readonly content: string
  readonly status: 'streaming' | 'complete' | 'error'
  readonly toolCalls?: readonly HarnessToolCall[]
  readonly reasoning?: string
  readonly attachments?: readonly WireAttachment[]
  /** The call of a foreign subagent that the message belongs to. */
  readonly parentToolCallId?: string
  /** Milliseconds since the epoch. */
  readonly createdAt: number
}

/** The last rewind of files: what it changed or, as a dry run, would change. */
export interface RewindNote {
  readonly messageId: string
  readonly scope: 'files' | 'both'
  readonly dryRun: boolean
  /** `{ restored, removed, conflicts, notCovered }`, lists of paths. */
  readonly report: JsonValue
}

export interface HarnessState {
  readonly status: HarnessStatus
  readonly messages: readonly WireMessage[]
  /** Oldest first. */
  readonly pendingApprovals?: readonly PendingApproval[]
  readonly sessionId?: string
  readonly error?: string
  readonly rewind?: RewindNote
  /** What was chosen with `configure`, and from when on each choice counts. */
  readonly config?: ShownConfig
}

/** Separates two texts of one message that have calls between them. */
const BETWEEN_TEXTS = '\n\n'

export function toHarnessState(view: ThreadView): HarnessState {
  const { head } = view
  const approvals = pendingApprovals(head)
  const error = runError(head)
  const status = statusOf(head, approvals, error)
  const rewind = head.settings.get(REWIND_SETTING) as RewindNote | undefined
  const config = shownConfig(head)
  return {
    status,
    messages: wireMessages(view.messages, head),
    ...(approvals.length === 0 ? {} : { pendingApprovals: approvals }),
    sessionId: head.stream,
    ...(status === 'error' && error !== undefined ? { error } : {}),
    ...(rewind === undefined ? {} : { rewind }),
    ...(Object.keys(config).length === 0 ? {} : { config }),
  }
}

function statusOf(head: Head, approvals: readonly PendingApproval[], error: string | undefined): HarnessStatus {
  if (approvals.length > 0) return 'awaiting-approval'
  if (head.run !== null) return 'running'
  return error === undefined ? 'idle' : 'error'
}

function pendingApprovals(head: Head): PendingApproval[] {
  return [...head.waits].filter(isForPerson).map((wait) => ({
    toolCallId: wait.subject.toolCallId ?? wait.id,
    toolName: wait.subject.toolName ?? wait.kind,
    description: wait.description,
    waitId: wait.id,
    kind: wait.kind,
    ...(wait.subject.args === undefined ? {} : { input: wait.subject.args }),
    ...(wait.payload === undefined ? {} : { payload: wait.payload }),
    ...(wait.answerSchema === undefined ? {} : { answerSchema: wait.answerSchema }),
  }))
}

/** Returns what went wrong in the last run. A cancelled run is no error. */
function runError(head: Head): string | undefined {
  const { lastRun } = head
  if (lastRun?.outcome === 'error') return lastRun.error?.message || 'The run failed.'
  if (lastRun?.outcome === 'interrupted') return lastRun.error?.message || 'The run was interrupted.'
  return undefined
}

/** Leaves out messages with nothing to show: results appear with their calls, and most signals are not for people. */
function wireMessages(messages: IdList<ThreadMessage>, head: Head): WireMessage[] {
  const calls = new WireCalls(head)
  const shown = [...messages].map((message) => ({ message, calls: calls.add(message) }))
  return shown.flatMap(({ message, calls: placed }) => {
    const texts: string[] = []
    const reasoning: string[] = []
    const attachments: WireAttachment[] = []
    for (const part of message.parts) {
      if (part.type === 'text' && part.text !== '') texts.push(part.text)
      else if (part.type === 'reasoning' && part.text !== '') reasoning.push(part.text)
      else if (part.type === 'signal' && part.kind === 'compaction') texts.push(compactionText(part.data))
      else if (part.type === 'image' || part.type === 'file') {
        const { mimeType, data, fileName, ref, url } = part
        attachments.push({
          mimeType,
          data,
          ...(fileName === undefined ? {} : { fileName }),
          ...(ref === undefined ? {} : { ref }),
          ...(url === undefined ? {} : { url }),
        })
      }
    }
    const isEmpty = texts.length + reasoning.length + attachments.length + placed.length === 0
    if (isEmpty && message.state !== 'open') return []
    return [
      {
        id: message.id,
        role: message.role === 'tool' ? 'assistant' : message.role,
        content: texts.join(BETWEEN_TEXTS),
        status: STATUS[message.error === undefined ? message.state : 'interrupted'],
        ...(placed.length === 0 ? {} : { toolCalls: placed.map((call) => calls.shown(call)) }),
        ...(reasoning.length === 0 ? {} : { reasoning: reasoning.join(BETWEEN_TEXTS) }),
        ...(attachments.length === 0 ? {} : { attachments }),
        ...(message.parentToolCallId === undefined ? {} : { parentToolCallId: message.parentToolCallId }),
        createdAt: message.at,
      },
    ]
  })
}

function compactionText({ messages, tokensAfter, tokensBefore }: JsonObject): string {
  const [count, before, after] = [messages, tokensBefore, tokensAfter].map((value) =>
    Number(value).toLocaleString('en'),
  )
  return `${count} earlier messages were summarised for the agent: ${before} tokens became ${after}.`
}

const STATUS: Readonly<Record<MessageState, WireMessage['status']>> = {
  open: 'streaming',
  done: 'complete',
  interrupted: 'error',
}
