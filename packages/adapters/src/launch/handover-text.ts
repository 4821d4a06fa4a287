import type { StoredMessage } from '@inspan/protocol'
import type { Binding, HandoverBudget, Host, Turn } from '@inspan/protocol/driver'
import { MAX_OMITTED, missedMessages, wordsOf } from '../live/handover.ts'
import type { SessionChoice } from './native-session.ts'

/** What others said in the thread since the native session last heard of it, as text. */
export interface HandoverText {
  /** Goes before the prompt. */
  readonly text: string
  readonly messages: number
  readonly tokens: number
  readonly omitted: number
  readonly isTruncated: boolean
}

/** Returns `undefined` if the session has heard everything. */
export async function handoverText(
  history: Host['history'],
  session: SessionChoice,
  binding: Binding | null,
  turn: Pick<Turn, 'runId'> & Partial<Pick<Turn, 'turnId'>>,
  budget?: HandoverBudget,
): Promise<HandoverText | undefined> {
  const { messages, tokens, omitted, isCut } = await missedMessages(history, {
    isKnown: ({ sessionId }) => session.kind !== 'new' && sessionId === session.nativeId,
    syncedTo: session.kind === 'resume' ? (binding?.syncedTo ?? 0) : 0,
    heardRuns: new Set(),
    budget,
    turn,
  })
  const said = messages.flatMap(entry)
  if (said.length === 0) return undefined
  const text = [
    `<conversation>`,
    `What was said in this conversation before. You did not hear it; it is for your information and no task.${leftOut(omitted, isCut)}`,
    ...said,
    `</conversation>`,
  ].join('\n')
  return { text, messages: said.length, tokens, omitted, isTruncated: omitted > 0 || isCut }
}

function leftOut(omitted: number, isCut: boolean): string {
  const count = omitted >= MAX_OMITTED ? `${MAX_OMITTED} or more` : `${omitted} of them`
  const older = omitted === 0 ? '' : ` Older messages are left out (${count}).`
  return isCut ? ` The first of these is cut.${older}` : older
}

function entry({ role, by, parts }: StoredMessage): readonly string[] {
  const words = parts
    .map(wordsOf)
    .filter((text) => text !== '')
    .join('\n')
  if (words === '') return []
  const name = by === undefined ? '' : ` name=${JSON.stringify(by)}`
  return [`<message from="${role}"${name}>\n${harmless(words)}\n</message>`]
}

/** Escapes tags, so that no message can end its own element and pose as another speaker. */
function harmless(words: string): string {
  return words.replace(/<(?=\/?(?:conversation|message)\b)/gi, '<\\')
}
