import type { LogRecord } from '@inspan/protocol/log'
import type { Store } from '@inspan/protocol/store'
import { emptyContent, noteContent, type ErasedContent } from './erased-content.ts'
import { recordsLeft, wholeStream } from './shared-stretches.ts'

/**
 * Returns the range, extended to whole messages and waits. Half a message would stay in the view with what is to be
 * erased, and an answer reveals the question.
 */
export async function extendRange(
  store: Store,
  stream: string,
  range: { readonly from: number; readonly to: number },
): Promise<{ from: number; to: number; content: ErasedContent }> {
  let { from, to } = range
  for (;;) {
    const open = new Set<string>()
    const content = emptyContent(from)
    let begin = from
    let end = to
    for await (const record of recordsLeft(store, stream, from - 1)) {
      // Beyond the range, only the ends of its messages and waits matter.
      if (record.seq > to && open.size === 0) break
      const { begins, of, ends } = linkOf(record)
      if (record.seq > to) {
        if (of === undefined || !open.has(of)) continue
        end = record.seq
        if (ends) open.delete(of)
        continue
      }
      noteContent(content, record)
      if (of === undefined) continue
      if (!begins && !open.has(of)) begin = Math.min(begin, (await beginOf(store, stream, of)) ?? begin)
      if (ends) open.delete(of)
      else open.add(of)
    }
    if (begin === from && end === to) return { from, to, content }
    from = begin
    to = end
  }
}

interface RecordLink {
  /** The message or wait the record is about. */
  readonly of?: string
  readonly begins?: boolean
  readonly ends?: boolean
}

function linkOf({ body }: LogRecord): RecordLink {
  switch (body.type) {
    case 'message.added':
      return { of: `m/${body.messageId}`, begins: true, ends: true }
    case 'message.started':
      return { of: `m/${body.messageId}`, begins: true }
    case 'message.ended':
      return { of: `m/${body.messageId}`, ends: true }
    case 'batch':
      return { of: `m/${body.event.messageId}` }
    case 'wait.opened':
      return { of: `w/${body.wait.id}`, begins: true }
    case 'wait.answered':
    case 'wait.cancelled':
    case 'wait.superseded':
      return { of: `w/${body.waitId}`, ends: true }
    case 'text-delta':
    case 'reasoning-delta':
    case 'file':
    case 'tool-call':
    case 'tool-result':
      return { of: `m/${body.messageId}` }
    default:
      return {}
  }
}

async function beginOf(store: Store, stream: string, of: string): Promise<number | undefined> {
  const id = of.slice(2)
  // Messages that a rewind has taken out of the lineage are still in the stream.
  if (of.startsWith('m/')) return (await store.getMessage(wholeStream(stream), id))?.order
  return (await store.getWait(stream, id))?.wait.openedAt
}
