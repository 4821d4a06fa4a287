import { InspanError, type Part } from '@inspan/protocol'
import {
  anObject,
  anything,
  aFlag,
  aText,
  checkFields,
  checkOptions,
  checkTurnDefaults,
  listOf,
  oneOf,
  words,
  type FieldRule,
  type FieldRules,
  type OptionRules,
} from '@inspan/protocol/internal'
import { rootLineage, type ThreadState } from '@inspan/protocol/log'
import type { Store } from '@inspan/protocol/store'
import type { HandOff, Submission } from '../thread-options.ts'

const FIELDS = ['id', 'type', 'text', 'mimeType', 'data'] as const
/** Made by the engine alone. */
const REFERENCES = ['ref', 'resultRef', 'meta'] as const

type PartFields = { readonly [Name in (typeof FIELDS | typeof REFERENCES)[number]]?: unknown }

const PART: FieldRules<PartFields> = {
  id: aText,
  type: oneOf('text', 'reasoning', 'tool-call', 'tool-result', 'image', 'file', 'signal'),
}

const SAID: FieldRules<PartFields> = { text: words }
/** An address is refused because models would get it as if it were a picture. */
const base64: FieldRule = {
  wanted: 'base64, and no address',
  accepts: (value) => typeof value === 'string' && !/^[a-z][a-z\d+.-]*:/i.test(value),
}

const SHOWN: FieldRules<PartFields> = { mimeType: words, data: base64 }

/** The further fields each type of part needs. */
const NEEDED: { readonly [type: string]: FieldRules<PartFields> } = {
  text: SAID,
  reasoning: SAID,
  signal: SAID,
  image: SHOWN,
  file: SHOWN,
}

const PARTS: FieldRule = listOf(anObject, 'parts')

const SUBMISSION: OptionRules<Submission> = {
  parts: PARTS,
  agentId: aText,
  door: aText,
  by: words,
  requestContext: anObject,
  messageId: aText,
  isNewMessageId: aFlag,
  runId: aText,
  turn: anything,
}

/** Throws if the submission is wrong, before it starts a run or is queued. */
export async function checkSubmission(submission: Submission, state: ThreadState, store: Store): Promise<void> {
  checkOptions('a submission', submission, SUBMISSION, ['parts', 'agentId'])
  if (submission.parts.length === 0) {
    const hint = "Say something: `[{ id: '0', type: 'text', text: 'Hi' }]`."
    throw new InspanError('invalid-input', '`parts` of a submission is empty.', { hint })
  }
  checkParts(submission.parts)
  checkTurnDefaults('the turn of a submission', submission.turn)
  const { isNewMessageId, messageId } = submission
  if (messageId !== undefined && isNewMessageId !== true) await assertNewMessage(messageId, state, store)
  if (submission.runId !== undefined) await assertNewRun(submission.runId, state, store)
}

/**
 * Throws if the run id is taken: runs are found by it and tools tell them apart by it. A client that sends the same
 * message twice gets this error, and the run does not happen twice.
 */
async function assertNewRun(runId: string, { head }: ThreadState, store: Store): Promise<void> {
  const { lastRun, lineage, run, stream } = head
  const isKnown =
    run?.runId === runId ||
    lastRun?.runId === runId ||
    (await store.hasNamedRun(lineage, runId)) ||
    // Rewound runs count too.
    ((lineage.length > 1 || lineage.at(0)?.from !== 1) && (await store.hasNamedRun(rootLineage(stream), runId)))
  if (!isKnown) return
  throw new InspanError('already-exists', `Thread ${stream} has a run "${runId}" already.`, {
    hint: 'Give every run an id of its own, or none.',
    details: { stream, runId },
  })
}

/** Throws if the message id is taken: the second message would replace the first wherever it is looked up. */
async function assertNewMessage(messageId: string, { head, messages }: ThreadState, store: Store): Promise<void> {
  const isQueued = [...head.queue].some((item) => item.messageId === messageId)
  const isThere = isQueued || messages.get(messageId) !== undefined
  if (!isThere && (await store.getMessage(head.lineage, messageId)) === null) return
  throw new InspanError('conflict', `Thread ${head.stream} has a message ${messageId} already.`, {
    hint: 'Give every message an id of its own, or none.',
    details: { stream: head.stream, messageId },
  })
}

export function checkHandOff(to: HandOff): void {
  checkOptions('a hand-off', to, { agentId: aText, input: PARTS }, ['agentId'])
  checkParts(to.input ?? [])
}

/** A reference would let a thread read whatever the store has, by its hash: only the engine makes them. */
function refuseReferences(what: string, { meta, ref, resultRef }: PartFields): void {
  const shown = typeof meta === 'object' && meta !== null && 'modelOutputRef' in meta ? meta.modelOutputRef : undefined
  if (ref === undefined && resultRef === undefined && shown === undefined) return
  throw new InspanError('invalid-input', `${what} refers to stored content.`, {
    hint: 'Give the content itself: `text`, `data` or `result`.',
  })
}

export function checkParts(parts: readonly Part[]): void {
  parts.forEach((part: PartFields, index) => {
    const what = `part ${index}`
    checkFields(what, part, PART, FIELDS)
    refuseReferences(what, part)
    const needed = NEEDED[part.type as string]
    if (needed !== undefined) checkFields(what, part, needed, FIELDS)
  })
}
