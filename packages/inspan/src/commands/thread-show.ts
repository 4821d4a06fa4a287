import type { Store } from '@inspan/protocol/store'
import type { Terminal } from '../command.ts'
import { oneLine } from '../one-line.ts'
import { findThread, headOf } from '../read-thread.ts'
import { visible } from '@inspan/protocol/internal'

const MOST_SHOWN = 1000

interface ThreadReport {
  readonly id: string
  readonly resourceId: string
  readonly title: string | null
  readonly seq: number
  readonly run: string | null
  /** The process that works on it. Null for a thread at rest, also one that waits. */
  readonly owner: { readonly id: string; readonly host?: string; readonly pid?: number; readonly epoch: number } | null
  /** Commands that were accepted and not carried out yet. */
  readonly inbox: readonly { readonly type: string; readonly by: string; readonly at: number }[]
  /** Of the thread and of its subagents. */
  readonly waits: readonly {
    readonly thread: string
    readonly id: string
    readonly kind: string
    readonly description: string
    readonly due?: number
  }[]
}

/** Shows who works on a thread, what it has been asked to do and what it waits for. Opens and changes nothing. */
export async function showThread(store: Store, given: string, asJson: boolean, terminal: Terminal): Promise<void> {
  const view = await viewOf(store, await findThread(store, given))
  if (asJson) {
    terminal.out(JSON.stringify(view))
    return
  }
  const { inbox, owner, waits } = view
  const holder = owner?.pid === undefined ? `owner ${owner?.id}` : `process ${owner.pid} on ${owner.host}`
  const lines = [
    `thread   ${view.id}${view.title === null ? '' : `  ${oneLine(view.title)}`}`,
    `of       ${view.resourceId}`,
    `run      ${view.run ?? 'none'} (seq ${view.seq})`,
    `owner    ${owner === null ? 'none: it is at rest' : `${holder} (epoch ${owner.epoch})`}`,
    `inbox    ${inbox.length === 0 ? 'empty' : `${inbox.length} to carry out`}`,
    ...inbox.map(({ at, by, type }) => `  ${type} by ${by}, ${new Date(at).toISOString()}`),
    `waits    ${waits.length === 0 ? 'none' : `${waits.length} open`}`,
    ...waits.map(({ description, due, id, kind, thread }) => {
      const where = thread === view.id ? '' : ` in ${thread}`
      const until = due === undefined ? '' : `, due ${new Date(due).toISOString()}`
      return `  ${kind} ${id}${where}${until}: ${oneLine(description)}`
    }),
  ]
  for (const line of lines) terminal.out(visible(line))
}

async function viewOf(store: Store, thread: string): Promise<ThreadReport> {
  const [info, status, head, inbox, waits] = await Promise.all([
    store.getThread(thread),
    store.getStream(thread),
    headOf(store, thread),
    store.listCommands({ target: thread, state: 'accepted', limit: MOST_SHOWN }),
    store.listWaits({ root: thread, state: 'pending', limit: MOST_SHOWN }),
  ])
  const owner = status?.owner ?? null
  const holder = owner === null ? null : await store.getOwner(owner)
  return {
    id: thread,
    resourceId: info?.resourceId ?? '',
    title: info?.title ?? null,
    seq: status?.headSeq ?? 0,
    run: head.run?.runId ?? null,
    owner:
      owner === null
        ? null
        : {
            id: owner,
            epoch: status?.epoch ?? 0,
            ...(holder === null ? {} : { host: holder.host, pid: holder.pid }),
          },
    inbox: inbox.items.map(({ at, body, key }) => ({ type: typeOf(body), by: key.principal, at })),
    waits: waits.items.map(({ stream, wait }) => ({
      thread: stream,
      id: wait.id,
      kind: wait.kind,
      description: wait.description,
      ...(wait.due === undefined ? {} : { due: wait.due }),
    })),
  }
}

function typeOf(body: unknown): string {
  const type = typeof body === 'object' && body !== null && 'type' in body ? body.type : undefined
  return typeof type === 'string' ? type : 'command'
}
