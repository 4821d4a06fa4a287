import type { StoredMessage } from '@inspan/protocol'
import type { MemoryServices, MemoryThread } from '@inspan/protocol/driver'
import { SUMMARISER } from './prompts.ts'
import { isDegenerate } from './read-answer.ts'
import { transcript } from './transcript.ts'

export interface CompactionOptions {
  /** The share of the conversation that stays as it is, in tokens. Default: 0.3. */
  readonly keep?: number
  /** Milliseconds that the summariser may take. Afterwards older messages are cut instead. Default: 60,000. */
  readonly timeoutMs?: number
}

/** `whole`: the last request is summarised as well, because nobody works on it any more. */
export type CompactionExtent = 'older' | 'whole'

export interface CompactionReport {
  readonly isDone: boolean
  readonly reason?: string
  /** What the summariser threw. */
  readonly error?: unknown
}

const TIMEOUT_MS = 60_000

/**
 * Puts a summary in the place of the older messages. The messages stay in the thread, and a rewind undoes it. If
 * anything goes wrong, nothing has changed.
 */
export async function compactThread(
  thread: MemoryThread,
  services: Pick<MemoryServices, 'ask'>,
  options: CompactionOptions,
  closed: AbortSignal,
  extent: CompactionExtent = 'older',
): Promise<CompactionReport> {
  const basis = thread.basis()
  const messages = await thread.messages()
  const wholly = extent === 'whole'
  const all = messages.reduce((sum, message) => sum + thread.tokensOf(message), 0)
  const old = wholly ? messages : olderPart(thread, messages, all * (options.keep ?? 0.3))
  const coversTo = wholly ? (old.at(-1)?.order ?? 0) : (messages[old.length]?.order ?? 1) - 1
  if (old.length === 0) return refused('There is nothing to summarise.')
  const known = (await thread.content())?.text
  // The task that is being worked on may be older than what was left out before.
  const said = [...(await thread.kept()), ...old]
  const prompt = [
    ...(known === undefined ? [] : [`What came before:\n${known}`]),
    `<conversation>\n${transcript(said)}\n</conversation>`,
  ].join('\n')
  try {
    const signal = AbortSignal.any([closed, AbortSignal.timeout(options.timeoutMs ?? TIMEOUT_MS)])
    const summary = (await services.ask('summariser', SUMMARISER, prompt, signal))?.trim()
    if (summary === undefined) return refused('No model was configured for summaries.')
    if (summary === '') return refused('The summary is empty.')
    if (isDegenerate(summary)) return refused('The summary repeats itself.')
    const place = { coversTo, wholly }
    const [before, after] = await thread.sizes(summary, place)
    if (after >= before) return refused('The summary is no shorter than what it would stand for.')
    const isDone = await thread.compact(summary, place, [before, after], basis)
    return isDone ? { isDone } : refused('The conversation was changed meanwhile.')
  } catch (thrown) {
    return { ...refused(thrown instanceof Error ? thrown.message : String(thrown)), error: thrown }
  }
}

/** Returns the messages before the newest ones that have this many tokens. The last message is never among them. */
function olderPart(thread: MemoryThread, messages: readonly StoredMessage[], keep: number): readonly StoredMessage[] {
  let first = messages.length - 1
  let kept = first < 0 ? 0 : thread.tokensOf(messages[first] as StoredMessage)
  while (first > 0 && kept < keep) kept += thread.tokensOf(messages[--first] as StoredMessage)
  // A result that is a message of its own follows its call.
  while (first > 0 && messages[first]?.role === 'tool') first--
  return messages.slice(0, Math.max(0, first))
}

function refused(reason: string): CompactionReport {
  return { isDone: false, reason }
}
