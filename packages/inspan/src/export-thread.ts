import { exportConversation, type ExportedConversation, type ExportFormat } from '@inspan/client/export'
import { emptyHead, storedHead, viewFrom } from '@inspan/protocol/log'
import type { StoredMessage } from '@inspan/protocol'
import type { Store } from '@inspan/protocol/store'
import { toHarnessState } from '@inspan/protocol/wire'
import { headOf } from './read-thread.ts'

const PAGE = 500

export async function exportThread(store: Store, thread: string, format: ExportFormat): Promise<string> {
  return exportConversation(await readExported(store, thread), format)
}

async function readExported(store: Store, thread: string): Promise<ExportedConversation> {
  const head = await headOf(store, thread)
  const info = await store.getThread(thread)
  const stored: StoredMessage[] = []
  let cursor: string | null = null
  do {
    const from: { cursor?: string } = cursor === null ? {} : { cursor }
    const page = await store.listMessages(head.lineage, { order: 'oldest', limit: PAGE, ...from })
    stored.push(...page.items)
    cursor = page.next
  } while (cursor !== null)
  const { messages } = toHarnessState(viewFrom({ seq: 0, head: storedHead(emptyHead(thread)), messages: stored }))
  return {
    id: thread,
    title: head.title ?? info?.title ?? 'Untitled',
    createdAt: info?.createdAt ?? 0,
    updatedAt: info?.updatedAt ?? 0,
    messages,
  }
}
